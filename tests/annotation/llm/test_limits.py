import asyncio
import ssl
from types import SimpleNamespace

import httpx
import openai
import pytest

from build_dataset.annotation.llm import limits
from build_dataset.annotation.llm.limits import (
    NOT_A_COMPLETION,
    Budget,
    CostAccount,
    Fault,
    Pace,
    classify,
    fault_of_status,
    waste_cost,
    worst_cost,
    worst_tokens,
)
from build_dataset.annotation.llm.messages import ChatRequest, Reason, Usage, Waste
from build_dataset.annotation.llm.options import LlmOptions, openai_client
from build_dataset.schemas.errors import UserError
from tests.conftest import MemoryStore


def test_a_certificate_that_cannot_be_verified_ends_the_run_with_one_line():
    refused = ssl.SSLCertVerificationError("certificate verify failed")
    refused.verify_message = "unable to get local issuer certificate"
    below = httpx.ConnectError("[SSL]")
    below.__cause__ = refused
    error = openai.APIConnectionError(request=httpx.Request("POST", "https://llm.example.org/v1"))
    error.__cause__ = below
    with pytest.raises(UserError, match=r"certificate of https://llm.* cannot be verified \(unable.*SSL_CERT_FILE"):
        classify(error, LlmOptions(base_url="https://llm.example.org/v1", model="m"))


@pytest.mark.parametrize("content", [None, "no certificate"])
def test_trusted_certificates_that_cannot_be_read_are_told_in_one_line(content, tmp_path, monkeypatch):
    path = tmp_path / "ca.pem"
    if content is not None:
        path.write_text(content)
    monkeypatch.setenv("SSL_CERT_FILE", str(path))
    with pytest.raises(UserError, match=r"SSL_CERT_FILE=.*ca\.pem: .*: name a file of certificates in PEM"):
        openai_client(LlmOptions(model="m"))


class Clock:
    """A clock that only sleeping moves; it notes how long, and between which bounds a share was drawn."""

    def __init__(self) -> None:
        self.now = 100.0
        self.slept: list[float] = []
        self.drawn: set[tuple[float, float]] = set()
        self.meanwhile = lambda: None

    async def sleep(self, seconds: float) -> None:
        self.slept.append(round(seconds, 6))
        self.now += seconds
        self.meanwhile()

    def uniform(self, low: float, high: float) -> float:
        self.drawn.add((low, high))
        return 1.0


@pytest.fixture
def clock(monkeypatch) -> Clock:
    found = Clock()
    monkeypatch.setattr(limits, "time", SimpleNamespace(monotonic=lambda: found.now))
    monkeypatch.setattr(limits, "random", SimpleNamespace(uniform=found.uniform))
    monkeypatch.setattr(limits, "asyncio", SimpleNamespace(sleep=found.sleep))
    return found


FAILED = Fault(Reason.SERVER_ERROR, "500", retry=True)


def test_waits_between_attempts_double_up_to_half_a_minute(clock):
    pace = Pace(max_retries=100)
    assert all(asyncio.run(pace.wait_to_retry(FAILED, attempt)) for attempt in range(9))
    assert clock.slept == [0.5, 1, 2, 4, 8, 16, 30, 30, 30]
    assert clock.drawn == {(0.75, 1.25)}


def test_retries_end_at_their_number_or_where_the_endpoint_asks_for_more_than_five_minutes(clock):
    pace = Pace(max_retries=2)
    assert [asyncio.run(pace.wait_to_retry(FAILED, attempt)) for attempt in range(4)] == [True, True, False, False]
    assert not asyncio.run(pace.wait_to_retry(FAILED._replace(retry=False), 0))
    assert asyncio.run(pace.wait_to_retry(FAILED._replace(wait=300.0), 0))
    assert not asyncio.run(pace.wait_to_retry(FAILED._replace(wait=300.5), 0))


def test_all_requests_wait_as_long_as_the_endpoint_asked(clock):
    pace = Pace(max_retries=2)
    asyncio.run(pace.wait_to_retry(FAILED._replace(wait=10.0), 0))
    asyncio.run(pace.wait_to_retry(FAILED._replace(wait=3.0), 0))
    assert clock.slept == []
    asyncio.run(pace.wait_for_turn())
    asyncio.run(pace.wait_for_turn())
    assert clock.slept == [10.0]
    assert clock.drawn == {(1, 1.1)}


OPTIONS = LlmOptions(base_url="https://llm.example.org/v1", model="m")


@pytest.mark.parametrize(
    ("status", "code", "expected"),
    [
        (400, None, ("bad_request", False, False)),
        (408, None, ("server_error", True, False)),
        (409, None, ("server_error", True, False)),
        (425, None, ("server_error", True, False)),
        (410, None, ("bad_request", False, False)),
        (413, None, ("too_long", False, False)),
        (400, "context_length_exceeded", ("too_long", False, False)),
        (400, "string_above_max_length", ("too_long", False, False)),
        (429, None, ("rate_limited", True, False)),
        (499, None, ("bad_request", False, False)),
        (500, None, ("server_error", True, False)),
        (502, None, ("server_error", True, True)),
        (503, None, ("server_error", True, False)),
        (504, None, ("server_error", True, True)),
        (524, None, ("server_error", True, True)),
        (403, "content_filter", ("refused", False, False)),
        (400, "data_inspection_failed", ("refused", False, False)),
    ],
)
def test_a_status_says_whether_another_attempt_may_help_and_whether_it_may_be_billed(status, code, expected):
    fault = fault_of_status(status, code, OPTIONS, wait=2.0)
    assert (fault.reason, fault.retry, fault.maybe_billed) == expected
    assert fault.wait == (2.0 if fault.retry else None)


@pytest.mark.parametrize(
    ("status", "code", "told"),
    [
        (300, None, "redirects elsewhere"),
        (399, None, "redirects elsewhere"),
        (401, None, "OPENAI_API_KEY"),
        (402, None, "no credit"),
        (429, "insufficient_quota", "no credit"),
        (403, None, "does not accept the key"),
        (404, None, "knows no model 'm'"),
    ],
)
def test_a_status_with_which_no_request_can_succeed_ends_the_run(status, code, told):
    with pytest.raises(UserError, match=told):
        fault_of_status(status, code, OPTIONS)
    with pytest.raises(UserError, match="firewall" if status == 403 else told):
        fault_of_status(status, code, OPTIONS, foreign=True)


def status_error(status: int, body: object = None, **headers: str) -> openai.APIStatusError:
    request = httpx.Request("POST", OPTIONS.base_url)
    response = httpx.Response(status, headers={k.replace("_", "-"): v for k, v in headers.items()}, request=request)
    return openai.APIStatusError("m", response=response, body=body)


@pytest.mark.parametrize(
    ("headers", "wait"),
    [
        ({}, None),
        ({"retry_after_ms": "1500"}, 1.5),
        ({"retry_after": "3"}, 3.0),
        ({"retry_after": "-2"}, None),
        ({"retry_after_ms": "soon", "retry_after": "4"}, 4.0),
        ({"retry_after": "Wed, 21 Oct 2026 07:28:00 GMT"}, None),
    ],
)
def test_the_wait_that_an_endpoint_asks_for_is_read(headers, wait):
    assert classify(status_error(429, {"message": "slow down"}, **headers), OPTIONS).wait == wait


@pytest.mark.parametrize(
    ("kind", "cause", "expected"),
    [
        (openai.APITimeoutError, httpx.ReadTimeout, ("timeout", True, "no answer within 120 s")),
        (openai.APITimeoutError, httpx.ConnectTimeout, ("connection", False, "no connection to https://llm")),
        (openai.APIConnectionError, httpx.ConnectError, ("connection", False, "no connection to https://llm")),
        (openai.APIConnectionError, httpx.PoolTimeout, ("connection", False, "no connection to https://llm")),
        (openai.APIConnectionError, httpx.ReadError, ("connection", True, "the connection broke")),
    ],
)
def test_what_was_sent_and_not_answered_may_be_billed(kind, cause, expected):
    error = kind(request=httpx.Request("POST", OPTIONS.base_url))
    error.__cause__ = cause("x")
    fault = classify(error, OPTIONS)
    assert (fault.reason, fault.maybe_billed) == expected[:2]
    assert fault.retry
    assert fault.detail.startswith(expected[2])


def test_what_is_no_completion_is_asked_for_again_and_anything_else_is_not():
    assert classify(ValueError("json"), OPTIONS) is NOT_A_COMPLETION
    assert (NOT_A_COMPLETION.retry, NOT_A_COMPLETION.maybe_billed) == (True, True)
    fault = classify(RuntimeError("x"), OPTIONS)
    assert (fault.reason, fault.retry, fault.detail) == ("error", False, "RuntimeError while asking")


PRICED = LlmOptions(base_url="https://llm.example.org/v1", model="m", price_in=2, price_out=8, max_tokens=100)
ASKED = ChatRequest("q", [{"role": "user", "content": "题目"}])


def test_the_most_that_a_request_can_cost_is_a_token_a_byte_and_the_longest_answer():
    size = len(b'{"model": "m", "messages": [{"role": "user", "content": ""}], "max_tokens": 100, "temperature": 0.0}')
    assert worst_tokens(ASKED, PRICED) == (size + 6, 100)
    assert worst_cost(ASKED, PRICED) == pytest.approx(((size + 6) * 2 + 100 * 8) / 1e6)
    assert worst_cost(ASKED, PRICED, batched=True) == pytest.approx(worst_cost(ASKED, PRICED) / 2)
    assert worst_cost(ASKED, OPTIONS) == 0.0


def test_a_picture_counts_its_most_tokens_and_not_its_bytes():
    url = "data:image/png;base64," + "A" * 50_000
    picture = [{"type": "image_url", "image_url": {"url": url}}]
    empty = [{"type": "image_url", "image_url": {"url": ""}}]
    tokens = [worst_tokens(ChatRequest("q", [{"role": "user", "content": c}]), PRICED)[0] for c in (picture, empty)]
    assert tokens[0] - tokens[1] == 16_384


def test_a_request_goes_when_all_that_is_under_way_still_fits_at_its_most():
    async def run() -> list[object]:
        budget, found = Budget(10.0, 1.0), []
        found += [await budget.reserve(4.0), await budget.reserve(5.0)]
        third = asyncio.create_task(budget.reserve(1.0))
        await asyncio.sleep(0)
        found.append(third.done())
        budget.settle(4.0, 3.0)
        found += [await third, budget.spent]
        budget.settle(5.0, 5.0)
        budget.settle(1.0, 0.5)
        found += [await budget.reserve(1.0), await budget.reserve(0.1), budget.exhausted]
        return found

    assert asyncio.run(run()) == [True, True, False, True, 4.0, False, False, True]


def test_without_a_cap_nothing_waits():
    async def run() -> bool:
        budget = Budget(None, 0.0)
        budget.settle(1.0, 1.0)
        return await budget.reserve(1e9)

    assert asyncio.run(run())


def test_the_account_counts_answers_waste_and_what_may_have_been_billed_with_the_prices_of_its_way():
    store = MemoryStore()
    requests = {"k": ASKED, "l": ASKED}
    account = CostAccount(requests, store, PRICED)
    account.unusable("k", Usage(1000, 10), ASKED)
    account.unusable("k", Usage(500, 20), ASKED)
    account.unusable("k", Usage(None, 20), ASKED)
    worst = worst_tokens(ASKED, PRICED)
    assert account.waste("k") == Waste(2, 1500, 30, 1, *worst)
    assert account.waste("l") == Waste()
    paid = (1500 * 2 + 30 * 8) / 1e6
    assert waste_cost(account.waste("k"), PRICED) == pytest.approx((paid, worst_cost(ASKED, PRICED)))
    assert waste_cost(account.waste("k"), OPTIONS) == (0.0, 0.0)
    assert account.spent() == pytest.approx(paid + worst_cost(ASKED, PRICED))
    store.put("l", {"prompt_tokens": 100, "completion_tokens": 10})
    assert account.spent() == pytest.approx(paid + worst_cost(ASKED, PRICED) + 280 / 1e6)
    store.put("l", {"prompt_tokens": None, "completion_tokens": 10})
    assert account.spent() == pytest.approx(paid + 2 * worst_cost(ASKED, PRICED))
    batched = CostAccount(requests, store, PRICED, batched=True)
    batched.unusable("k", Usage(1000, 0), ASKED)
    assert batched.waste("k") == Waste(3, 2500, 30, 1, *worst)
    assert batched.spent() - account.spent() == pytest.approx(0.5 * 2000 / 1e6)
    assert CostAccount(requests, store, PRICED).waste("k") == batched.waste("k"), "written down at once"


def test_a_call_on_its_way_when_a_run_is_killed_counts_as_unseen_in_the_next():
    store, requests = MemoryStore(), {"k": ASKED}
    killed = CostAccount(requests, store, PRICED)
    killed.sent("k")
    assert killed.waste("k") == Waste()
    assert CostAccount(requests, store, PRICED).waste("k").unseen == 1
    assert CostAccount(requests, store, PRICED).waste("k").unseen == 1, "once, not in every run"
    seen = CostAccount(requests, store, PRICED)
    seen.sent("k")
    seen.came("k")
    assert CostAccount(requests, store, PRICED).waste("k").unseen == 1
