from __future__ import annotations

import asyncio
import ssl
import time

import httpx
import openai
import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.llm.limits import Fault, Pace, classify, duration
from annotation.llm.messages import Reason
from annotation.llm.options import LlmOptions, openai_client
from schemas.errors import UserError

LIMITED = Fault(Reason.RATE_LIMITED, "429", retry=True, wait=0.0)


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("1s", 1),
        ("6m0s", 360),
        ("20ms", 0.02),
        ("1h2m3.5s", 3723.5),
        ("12.5", 12.5),
        ("soon", 1),
        (None, 1),
        ("-3", 1),
        ("nan", 1),
    ],
)
def test_resets_are_read_as_endpoints_write_them(value, seconds):
    assert duration(value) == pytest.approx(seconds)


@given(st.text(max_size=20))
def test_any_reset_is_a_time_to_wait(value):
    assert duration(value) >= 0


def test_a_rate_limit_halves_what_is_in_flight_once_and_answers_bring_it_back():
    pace = Pace(64, max_retries=5)

    async def run() -> None:
        for _ in range(10):
            assert await pace.wait_to_retry(LIMITED, 0)

    asyncio.run(run())
    assert int(pace.limit) == 32
    for _ in range(32):
        pace.update_limits({})
    assert int(pace.limit) == 32 or int(pace.limit) == 33
    for _ in range(5000):
        pace.update_limits({})
    assert int(pace.limit) == 64


def test_the_limit_never_falls_below_one_request(monkeypatch):
    monkeypatch.setattr("annotation.llm.limits._SAME_LIMIT", -1.0)
    pace = Pace(8, max_retries=100)

    async def run() -> None:
        for _ in range(20):
            await pace.wait_to_retry(LIMITED, 0)
        await pace.wait_for_turn()

    asyncio.run(run())
    assert int(pace.limit) == 1


@pytest.mark.parametrize(
    "headers",
    [
        {"x-ratelimit-remaining-requests": "2", "x-ratelimit-reset-requests": "300ms"},
        {"x-ratelimit-remaining-tokens": "2500", "x-ratelimit-reset-tokens": "300ms"},
        {"x-ratelimit-remaining-requests": "900", "x-ratelimit-remaining-tokens": "2999"}
        | {"x-ratelimit-reset-requests": "9s", "x-ratelimit-reset-tokens": "300ms"},
    ],
)
def test_no_more_requests_go_than_are_left_until_the_reset(headers):
    async def run() -> list[float]:
        pace = Pace(64, max_retries=0)
        pace.tokens = 1000
        pace.update_limits(headers)
        start, gone = time.monotonic(), []

        async def one() -> None:
            await pace.wait_for_turn()
            gone.append(time.monotonic() - start)

        await asyncio.gather(*(one() for _ in range(5)))
        return gone

    gone = asyncio.run(run())
    assert sum(moment < 0.25 for moment in gone) == 2
    assert min(gone[2:]) >= 0.29


def test_a_cancelled_request_does_not_take_another_s_turn():
    async def run() -> bool:
        pace = Pace(1, max_retries=0)
        await pace.wait_for_turn()
        waiting = [asyncio.create_task(pace.wait_for_turn()) for _ in range(2)]
        await asyncio.sleep(0)
        waiting[0].cancel()
        await asyncio.sleep(0)
        pace.leave()
        await asyncio.wait(waiting, timeout=5)
        return waiting[0].cancelled() and waiting[1].done()

    assert asyncio.run(run())


def test_a_certificate_that_cannot_be_verified_ends_the_run_with_one_line():
    refused = ssl.SSLCertVerificationError("certificate verify failed")
    refused.verify_message = "unable to get local issuer certificate"
    below = httpx.ConnectError("[SSL]")
    below.__cause__ = refused
    error = openai.APIConnectionError(request=httpx.Request("POST", "https://llm.example.org/v1"))
    error.__cause__ = below
    with pytest.raises(
        UserError, match=r"certificate of https://llm.* cannot be verified \(unable.*SSL_CERT_FILE"
    ):
        classify(error, LlmOptions(base_url="https://llm.example.org/v1", model="m"))


@pytest.mark.parametrize("content", [None, "no certificate"])
def test_trusted_certificates_that_cannot_be_read_are_told_in_one_line(content, tmp_path, monkeypatch):
    path = tmp_path / "ca.pem"
    if content is not None:
        path.write_text(content)
    monkeypatch.setenv("SSL_CERT_FILE", str(path))
    with pytest.raises(UserError, match=r"SSL_CERT_FILE=.*ca\.pem: .*: name a file of certificates in PEM"):
        openai_client(LlmOptions(model="m"))
