import contextlib
import json
import signal
import threading
from collections import Counter

import pytest

from build_dataset.annotation.llm.client import LlmClient
from build_dataset.annotation.llm.messages import Answer, BadAnswerError, ChatRequest, Failed, Reason
from build_dataset.annotation.llm.options import LlmOptions
from build_dataset.schemas.errors import UserError
from tests.annotation.scripted_server import GOOD_TEXT, Reply


class Store(dict):
    def get_many(self, keys):
        return {key: self[key] for key in keys if key in self}

    def put(self, key, value):
        self[key] = json.loads(json.dumps(value))

    def answers(self):
        return {key: value for key, value in self.items() if not key.startswith("wasted:")}


def needs_json(text: str) -> None:
    try:
        label = json.loads(text)["疾病组"]
    except ValueError:
        raise BadAnswerError(Reason.MALFORMED_JSON, "not JSON") from None
    if label != "循环系统疾病":
        raise BadAnswerError(Reason.INVALID_LABEL, "not in the set")


def requests(count: int, **more) -> list[ChatRequest]:
    more.setdefault("check", needs_json)
    return [
        ChatRequest(f"q{n}", [{"role": "system", "content": "S"}, {"role": "user", "content": f"{n}"}], **more)
        for n in range(count)
    ]


def options(server, **more) -> LlmOptions:
    settings = {"base_url": server.url, "model": "m", "timeout": 30.0, "max_retries": 2, "concurrency": 16}
    return LlmOptions(**{**settings, **more})


def ask(server, count, store, *, asked=None, **more):
    return list(LlmClient(options(server, **more)).complete_many(asked or requests(count), store))


FAULTS = {
    1: (Reply(status=429, headers={"retry-after": "0"}), Reason.RATE_LIMITED),
    2: (Reply(status=500), Reason.SERVER_ERROR),
    3: (Reply(stall=7.0), Reason.TIMEOUT),
    4: (Reply(raw=b'{"id": "x", "choices": [{"ind'), Reason.MALFORMED_JSON),
    5: (Reply(content="", refusal="no"), Reason.REFUSED),
    6: (Reply(content='{"疾病组": "循', finish_reason="length"), Reason.TRUNCATED),
    7: (Reply(content='{"疾病组": "心脏病"}'), Reason.INVALID_LABEL),
    8: (Reply(drop=True), Reason.CONNECTION),
    9: (Reply(content="就不告诉你"), Reason.MALFORMED_JSON),
    10: (Reply(status=400, content="context_length_exceeded"), Reason.TOO_LONG),
    11: (Reply(status=400, content="content_filter"), Reason.REFUSED),
    12: (Reply(raw=b"[]"), Reason.MALFORMED_JSON),
    13: (Reply(content=""), Reason.EMPTY),
    14: (Reply(raw=b'{"id":"c","object":"chat.completion","choices":[{"message":null}]}'), Reason.MALFORMED_JSON),
}
"""By question number modulo 40: about a third of all questions."""


def faulty(question, earlier, body):
    fault = FAULTS.get(int(question) % 40)
    return fault[0] if fault else Reply()


def test_lasting_faults_are_classified_and_no_question_is_lost_or_paid_twice(serve):
    server, store = serve(faulty), Store()
    first = ask(server, 160, store, timeout=2.5, max_retries=1)
    assert sorted(outcome.request.id for outcome in first) == sorted(f"q{n}" for n in range(160))
    for outcome in first:
        expected = FAULTS.get(int(outcome.request.id[1:]) % 40)
        assert (outcome.reason if isinstance(outcome, Failed) else None) == (expected and expected[1])
    assert len(store.answers()) == sum(n % 40 not in FAULTS for n in range(160))
    good_before = {q for q in server.answered if int(q) % 40 not in FAULTS}
    assert all(server.asked[q] == 1 for q in good_before)

    server.script = lambda question, earlier, body: Reply()
    server.asked.clear()
    second = ask(server, 160, store)
    assert all(isinstance(outcome, Answer) for outcome in second)
    assert set(server.asked) == {str(n) for n in range(160) if n % 40 in FAULTS}
    assert set(server.asked.values()) == {1}

    server.asked.clear()
    third = ask(server, 160, store)
    assert not server.asked
    assert all(isinstance(outcome, Answer) for outcome in third)


def test_passing_faults_are_overcome_within_one_run(serve):
    transient = {1, 2, 3, 4, 8, 12}

    def script(question, earlier, body):
        kind = int(question) % 40
        return FAULTS[kind][0] if kind in transient and not earlier else Reply()

    server = serve(script)
    outcomes = ask(server, 80, Store(), timeout=2.5)
    assert all(isinstance(outcome, Answer) for outcome in outcomes)
    assert sum(server.asked.values()) == 80 + 2 * len(transient)


def test_no_more_requests_are_in_flight_than_allowed(serve):
    server = serve(lambda question, earlier, body: Reply(stall=0.2))  # long beside a busy machine's delays
    ask(server, 40, Store(), concurrency=5)
    assert server.most_at_once == 5


def test_all_requests_wait_as_long_as_a_rate_limit_asks(serve):
    def script(question, earlier, body):
        limited = question == "0" and not earlier
        return Reply(status=429, headers={"retry-after": "1"}) if limited else Reply(stall=0.05)

    server = serve(script)
    outcomes = ask(server, 30, Store(), concurrency=2)
    assert all(isinstance(outcome, Answer) for outcome in outcomes)
    longest_silence = max(b - a for a, b in zip(server.times, server.times[1:], strict=False))
    assert longest_silence >= 0.9


def test_a_wrong_key_stops_at_once_and_is_told_without_the_key(serve, monkeypatch):
    monkeypatch.setenv("MY_KEY", "sk-very-secret")
    server, store = serve(lambda question, earlier, body: Reply(status=401)), Store()
    with pytest.raises(UserError) as error:
        ask(server, 100, store, api_key_env="MY_KEY", concurrency=4)
    assert sum(server.asked.values()) <= 4
    assert server.authorization == {"Bearer sk-very-secret"}
    assert "MY_KEY" in str(error.value)
    assert "secret" not in str(error.value) + repr(error.value.__cause__) + json.dumps(store)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("reply", "says"),
    [
        (Reply(status=404, content="model_not_found"), "no model 'm'"),
        (Reply(status=429, content="insufficient_quota"), "no credit"),
        (Reply(status=403), "does not accept the key"),
        (Reply(status=403, raw=b"<html>blocked</html>", headers={"content-type": "text/html"}), "a firewall"),
        (Reply(status=307, headers={"location": "http://127.0.0.1:9/v1"}), "redirects elsewhere"),
        (Reply(status=400, content="unsupported_parameter"), "response_format, .* it says: provider says: …"),
        (Reply(content="我不会 JSON", raw=None), "10 answers of m in a row are of no use .*我不会 JSON"),
        (Reply(raw=b'{"choices": [], "note": "empty"}'), "of no use .*empty"),
        (Reply(raw=b"<html>login</html>", headers={"content-type": "text/html"}), "of no use .*login"),
    ],
)
def test_what_no_request_can_overcome_stops_early(serve, reply, says):
    server = serve(lambda question, earlier, body: reply)
    with pytest.raises(UserError, match=says):
        ask(server, 200, Store(), concurrency=4)
    assert sum(server.asked.values()) <= 14


def test_many_useless_answers_in_a_row_stop_also_a_run_that_began_well(serve):
    server = serve(lambda question, earlier, body: Reply() if question == "0" else Reply(content="我", raw=None))
    with pytest.raises(UserError, match="60 answers of m in a row are of no use"):
        ask(server, 80, Store(), concurrency=1)


def test_failures_never_carry_what_the_provider_said(serve):
    server = serve(lambda question, earlier, body: Reply(status=500) if question == "0" else Reply())
    store = Store()
    failed = [outcome for outcome in ask(server, 2, store) if isinstance(outcome, Failed)]
    assert "provider says" not in failed[0].detail
    assert "provider says" not in json.dumps(store)


def test_an_endpoint_that_is_down_is_not_asked_for_ever(serve):
    server = serve(lambda question, earlier, body: Reply(status=503))
    outcomes = ask(server, 300, Store(), max_retries=0, concurrency=4)
    tally = Counter(outcome.reason for outcome in outcomes)
    assert tally[Reason.SERVER_ERROR] < 40
    assert tally[Reason.SERVER_ERROR] + tally[Reason.NOT_ASKED] == 300


def test_a_server_that_is_not_there_is_a_connection_failure(serve):
    server = serve()
    url = server.url
    server.close()
    client = LlmClient(LlmOptions(base_url=url, model="m", max_retries=0))
    outcomes = list(client.complete_many(requests(2), Store()))
    assert [outcome.reason for outcome in outcomes] == [Reason.CONNECTION] * 2


def test_requests_that_are_the_same_to_the_letter_are_asked_and_paid_once(serve):
    server = serve()
    same = [ChatRequest(f"q{n}", [{"role": "user", "content": "the same"}]) for n in range(5)]
    outcomes = ask(server, 0, Store(), asked=same, price_in=1.0, price_out=1.0)
    assert sum(server.asked.values()) == 1
    assert [outcome.usage.prompt_tokens for outcome in outcomes] == [100, 0, 0, 0, 0]
    assert sum(outcome.cost for outcome in outcomes) == pytest.approx(110e-6)


PRICES = {"price_in": 1000.0, "price_out": 1000.0, "max_tokens": 10}
"""0.11 for each answer of the scripted server."""


def test_the_cap_stops_before_the_request_that_could_break_it(serve):
    server, store = serve(), Store()
    outcomes = ask(server, 60, store, max_cost=2.0, **PRICES)
    answers = [outcome for outcome in outcomes if isinstance(outcome, Answer)]
    assert sum(answer.cost for answer in answers) <= 2.0
    assert len(answers) >= 15
    assert {outcome.reason for outcome in outcomes if isinstance(outcome, Failed)} == {Reason.SPENDING_CAP}
    assert sum(server.asked.values()) == len(answers)

    server.asked.clear()
    again = ask(server, 60, store, max_cost=2.0, **PRICES)
    assert not server.asked, "what earlier runs paid for counts"
    assert sum(isinstance(outcome, Answer) for outcome in again) == len(answers)

    more = ask(server, 60, store, max_cost=20.0, **PRICES)
    assert all(isinstance(outcome, Answer) for outcome in more)
    assert sum(server.asked.values()) == 60 - len(answers)


def test_unusable_answers_count_against_the_cap_on_later_runs_too(serve):
    server, store = serve(lambda question, earlier, body: Reply(finish_reason="length")), Store()
    for _ in range(10):
        ask(server, 5, store, max_cost=2.0, **PRICES)
    assert sum(server.asked.values()) * 0.11 <= 2.0
    assert not store.answers()


def test_truncated_and_refused_answers_are_answers_where_the_caller_wants_them(serve):
    def script(question, earlier, body):
        cut = Reply(content="因为", finish_reason="length")
        return cut if question == "0" else Reply(content="", refusal="no")

    server, store = serve(script), Store()
    asked = requests(2, check=None, keep_unfinished=True)
    found = {outcome.request.id: outcome for outcome in ask(server, 0, store, asked=asked)}
    assert (found["q0"].text, found["q0"].finish_reason) == ("因为", "length")
    assert found["q1"].finish_reason == "refusal"
    before = sum(server.asked.values())
    assert all(isinstance(outcome, Answer) for outcome in ask(server, 0, store, asked=asked))
    assert sum(server.asked.values()) == before


@pytest.mark.timeout(60)  # stopping waits for nothing
def test_answers_are_in_the_store_before_they_are_yielded_and_stopping_midway_is_clean(serve):
    server, store = serve(lambda question, earlier, body: Reply(stall=0.05)), Store()
    stream = LlmClient(options(server, timeout=30)).complete_many(requests(300), store)
    for seen, _ in enumerate(stream, start=1):
        assert len(store.answers()) >= seen
        if seen == 10:
            break
    stream.close()
    assert sum(server.asked.values()) < 300


@pytest.mark.timeout(60)
def test_ctrl_c_while_replies_are_awaited_is_clean_and_their_calls_are_accounted(serve):
    def stop_at_the_last(question, earlier, body):
        if server.asked.total() == 4:
            signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)
        return Reply(stall=0.5)

    server, store = serve(stop_at_the_last), Store()
    with pytest.raises(KeyboardInterrupt):
        ask(server, 4, store)
    assert not store.answers()
    server.script = lambda question, earlier, body: Reply()
    assert [outcome.waste.unseen for outcome in ask(server, 4, store)] == [1] * 4


def test_a_request_without_a_model_or_key_is_a_users_error(monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(UserError, match="no model"):
        LlmClient(LlmOptions())
    with pytest.raises(UserError, match="OPENAI_API_KEY"):
        LlmClient(LlmOptions(model="m"))
    assert LlmOptions(model="m", base_url="http://localhost:1/v1").missing() is None


def test_the_key_for_openai_goes_to_nobody_else_unasked(serve, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-very-secret")
    server = serve()
    ask(server, 1, Store())
    assert "secret" not in str(server.authorization)
    ask(server, 2, Store(), api_key_env="OPENAI_API_KEY")
    assert "Bearer sk-very-secret" in server.authorization


def test_an_answer_that_says_it_is_plain_text_is_read(serve):
    whole = Reply().body("m")
    server = serve(lambda *given: Reply(raw=whole, headers={"content-type": "text/plain"}))
    assert [outcome.text for outcome in ask(server, 2, Store())] == [GOOD_TEXT] * 2


BILLED = {
    1: Reply(drop=True),
    3: Reply(stall=3.0),
    5: Reply(raw=b'{"choices": [], "usage": {"prompt_tokens": 90, "completion_tokens": 0}}'),
    7: Reply(content="就不告诉你"),
    9: Reply(finish_reason="length"),
    11: Reply(raw=b'{"id": "x", "choices": [{"ind'),
    13: Reply(status=504),
    15: Reply(raw=json.dumps({"choices": [{"message": {"content": GOOD_TEXT}}]}).encode()),
}
"""Faults of calls that the server bills; 5, 7 and 9 and good answers tell how many tokens."""
FREE = {17: Reply(status=429, headers={"retry-after": "0"}), 19: Reply(status=500)}


def test_the_account_is_the_servers_own_ledger(serve):
    """Calls, tokens that were told, and never more than what the cap allows, over several runs."""
    ledger: Counter[str] = Counter()

    def script(question, earlier, body):
        number = int(question) % 40
        number = 40 if number == 3 else number  # a stall counts by how busy the machine is
        reply = {**BILLED, **FREE}.get(number) if earlier < 2 else None
        told = reply is None or number in (5, 7, 9)
        ledger["calls"] += number not in FREE or reply is None
        ledger["told"] += told
        ledger["prompt"] += (90 if number == 5 and reply else 100) * told
        return reply or Reply()

    server, store = serve(script), Store()
    for _ in range(4):
        outcomes = ask(server, 200, store, max_retries=1, price_in=1.0, price_out=1.0)
    good = [outcome for outcome in outcomes if isinstance(outcome, Answer)]
    assert len(good) == 200
    wasted = [outcome.waste for outcome in outcomes]
    untold = sum(answer.usage.prompt_tokens is None for answer in good)
    assert len(good) + sum(each.calls + each.unseen for each in wasted) == ledger["calls"]
    assert len(good) - untold + sum(each.calls for each in wasted) == ledger["told"]
    prompt = sum(answer.usage.prompt_tokens or 0 for answer in good)
    assert prompt + sum(each.prompt_tokens for each in wasted) == ledger["prompt"]


@pytest.mark.parametrize("number", [1, 3, 5, 11, 13, 15])
def test_the_cap_counts_what_may_have_been_billed_over_all_runs(serve, number):
    calls = Counter()

    def script(question, earlier, body):
        calls["all"] += 1
        return BILLED[number]

    server, store = serve(script), Store()
    for _ in range(8):
        with contextlib.suppress(UserError):
            ask(server, 4, store, timeout=0.5, max_retries=1, max_cost=2.0, **PRICES)
    assert calls["all"] * (0.09 if number == 5 else 0.11) <= 2.0
