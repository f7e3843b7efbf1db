import json
from dataclasses import replace

import pytest

from build_dataset.annotation.llm import batches as batching
from build_dataset.annotation.llm.batches import answered_rows, input_lines
from build_dataset.annotation.llm.client import LlmClient
from build_dataset.annotation.llm.messages import UNUSABLE_AFTER, Answer, Failed, Reason, json_object
from build_dataset.annotation.llm.options import LlmOptions
from build_dataset.annotation.llm_annotator import LlmAnnotator
from build_dataset.annotation.params import AnnotateLlmOptions
from build_dataset.schemas.errors import UserError
from tests.annotation.batch_server import BatchServer
from tests.annotation.conftest import started
from tests.annotation.llm.test_client import Store, requests
from tests.annotation.scripted_server import Reply
from tests.annotation.test_llm_annotator import questions


class Killed(BaseException):
    """The same as kill -9: no later code runs."""


@pytest.fixture
def batches(monkeypatch):
    with started(BatchServer, monkeypatch) as start:
        yield start


PRICES = {"price_in": 1000.0, "price_out": 1000.0}
"""0.11 for an answer of the server, 0.055 in a batch."""


def options(server, **more) -> LlmOptions:
    return LlmOptions(base_url=server.url, model="m", poll=0.01, **{"max_retries": 2, **PRICES, **more})


def ask(server, count, store, **more):
    return list(LlmClient(options(server, **more), batch=True).complete_many(requests(count), store))


def test_a_batch_answers_every_request_for_half_the_price_and_is_paid_once(batches):
    server, store = batches(looks=3), Store()
    outcomes = ask(server, 20, store)
    assert sorted(outcome.request.id for outcome in outcomes) == sorted(f"q{n}" for n in range(20))
    assert [outcome.cost for outcome in outcomes] == pytest.approx([0.055] * 20)
    assert len(server.batches) == 1
    again = ask(server, 20, store)
    assert [outcome.cost for outcome in again] == pytest.approx([0.055] * 20)
    assert len(server.batches) == 1


def test_batches_and_single_requests_share_their_answers(batches):
    server, store = batches(), Store()
    ask(server, 5, store)
    before = dict(server.asked)
    found = list(LlmClient(options(server)).complete_many(requests(5), store))
    assert all(isinstance(outcome, Answer) for outcome in found)
    assert dict(server.asked) == before


def test_only_rows_that_failed_are_submitted_again(batches):
    def script(question, earlier):
        faults = {"1": Reply(status=500), "2": None, "3": Reply(status=429), "4": Reply(raw=b"[]")}
        return faults.get(question, Reply()) if not earlier else Reply()

    server, store = batches(script), Store()
    outcomes = ask(server, 10, store)
    assert all(isinstance(outcome, Answer) for outcome in outcomes)
    assert dict(server.asked) == {str(n): 2 if 1 <= n <= 4 else 1 for n in range(10)}
    assert len(server.batches) == 2


def test_lasting_faults_are_classified_and_nothing_else_waits_for_them(batches):
    faults = {
        "0": (Reply(status=500), Reason.SERVER_ERROR),
        "1": (None, Reason.TIMEOUT),
        "2": (Reply(content="", refusal="no"), Reason.REFUSED),
        "3": (Reply(content="{", finish_reason="length"), Reason.TRUNCATED),
        "4": (Reply(content='{"疾病组": "心脏病"}'), Reason.INVALID_LABEL),
        "5": (Reply(raw=b"[]"), Reason.MALFORMED_JSON),
        "6": (Reply(status=400, content="context_length_exceeded"), Reason.TOO_LONG),
    }
    server, store = (batches(lambda question, earlier: faults[question][0] if question in faults else Reply()), Store())
    outcomes = {outcome.request.id[1:]: outcome for outcome in ask(server, 10, store, max_retries=1)}
    for question, outcome in outcomes.items():
        expected = faults[question][1] if question in faults else None
        assert (outcome.reason if isinstance(outcome, Failed) else None) == expected
    assert {question for question, asked in server.asked.items() if asked == 2} == {"0", "1", "5"}


@pytest.mark.parametrize("path", ["/v1/files", "/v1/batches"])
def test_a_lost_reply_stops_the_run_and_the_next_goes_on_without_paying_twice(batches, path):
    server, store = batches(), Store()
    server.drop_next = [path]
    with pytest.raises(UserError, match="run again"):
        ask(server, 8, store)
    assert all(isinstance(outcome, Answer) for outcome in ask(server, 8, store))
    assert set(server.asked.values()) == {1}
    assert len(server.batches) == 1


def test_killed_at_any_write_it_goes_on_without_losing_or_paying_twice(batches):
    writes = 0

    class Fragile(Store):
        left = 10**6

        def put(self, key, value):
            nonlocal writes
            if self.left == 0:
                raise Killed
            self.left -= 1
            writes += 1
            super().put(key, value)

    ask(batches(), 6, Fragile())
    for survived in range(writes):
        server, store = batches(looks=2), Fragile()
        store.left = survived
        with pytest.raises(Killed):
            ask(server, 6, store)
        store.left = 10**6
        outcomes = ask(server, 6, store)
        assert sum(isinstance(outcome, Answer) for outcome in outcomes) == 6
        assert set(server.asked.values()) == {1}, f"killed after {survived} writes"


def test_the_cap_holds_for_batches_at_their_price(batches):
    server, store = batches(), Store()
    outcomes = ask(server, 60, store, max_cost=2.0, max_tokens=10)
    answers = [outcome for outcome in outcomes if isinstance(outcome, Answer)]
    assert 15 <= len(answers) <= 2.0 / 0.055
    assert {outcome.reason for outcome in outcomes if isinstance(outcome, Failed)} == {Reason.SPENDING_CAP}
    assert sum(server.asked.values()) == len(answers)


def test_a_batch_that_is_refused_as_a_whole_is_told_by_its_code_alone(batches):
    server, store = batches(), Store()
    server.fail_next = ["invalid_model"]
    with pytest.raises(UserError, match="invalid_model") as error:
        ask(server, 3, store)
    assert "secret" not in str(error.value)
    assert all(isinstance(outcome, Answer) for outcome in ask(server, 3, store))


def test_a_reply_that_is_lost_while_a_batch_is_watched_stops_nothing(batches):
    server = batches(looks=2)
    server.drop_next = ["/v1/batches/batch_0"]
    assert all(isinstance(outcome, Answer) for outcome in ask(server, 3, Store()))
    assert set(server.asked.values()) == {1}


def test_without_credit_halfway_the_other_answers_are_safe_and_the_rest_goes_again(batches):
    def script(question, earlier):
        broke = question == "1" and not earlier
        return Reply(status=429, content="insufficient_quota") if broke else Reply()

    server, store = batches(script), Store()
    with pytest.raises(UserError, match="no credit"):
        ask(server, 5, store)
    assert all(isinstance(outcome, Answer) for outcome in ask(server, 5, store))
    assert dict(server.asked) == {str(n): 2 if n == 1 else 1 for n in range(5)}


def test_a_batch_of_useless_answers_is_not_paid_a_second_time(batches):
    server, store = batches(lambda question, earlier: Reply(content="<p>hello</p>")), Store()
    asked = [replace(each, check=json_object) for each in requests(UNUSABLE_AFTER)]
    client = LlmClient(options(server), batch=True)
    with pytest.raises(UserError, match=r"10 answers of m in a row are of no use .*<p>hello</p>"):
        list(client.complete_many(asked, store))
    assert sum(server.asked.values()) == UNUSABLE_AFTER == 10


def test_an_endpoint_without_batches_is_told(batches):
    server = batches()
    server.missing = True
    with pytest.raises(UserError, match="run without --batch"):
        ask(server, 1, Store())


def test_a_changed_prompt_leaves_the_batches_of_the_other_alone(batches):
    server, store = batches(), Store()
    server.drop_next = ["/v1/batches"]
    with pytest.raises(UserError):
        ask(server, 3, store)
    other = [item.__class__(item.id, [{"role": "user", "content": "other " + item.id}]) for item in requests(2)]
    list(LlmClient(options(server), batch=True).complete_many(other, store))
    ask(server, 3, store)
    assert set(server.asked.values()) == {1}


def test_the_annotator_labels_through_batches(batches):
    server = batches()
    llm = AnnotateLlmOptions(base_url=server.url, model="m", poll=0.01, price_in=1.0, price_out=1.0)
    found = list(LlmAnnotator(llm, Store(), batch=True).annotate(questions(3), lambda done: None))
    assert len(found) == 3


@pytest.mark.parametrize(("rows", "lines", "files"), [(5, 99, 1), (4, 99, 2), (99, 3, 2), (99, 2, 3), (99, 0, 5)])
def test_a_file_takes_so_many_requests_and_so_many_bytes(batches, monkeypatch, rows, lines, files):
    server, store = batches(), Store()
    size = len(next(input_lines({"k": requests(1)[0]}, options(server)))[1])
    key = len(requests(1)[0].key(options(server))) - 1  # in place of "k"
    monkeypatch.setattr(batching, "MOST_ROWS", rows)
    monkeypatch.setattr(batching, "MOST_BYTES", lines * (size + key))
    assert len(ask(server, 5, store)) == 5
    assert len(server.batches) == files
    assert set(server.asked.values()) == {1}


def line(**row: object) -> bytes:
    return json.dumps(row).encode()


@pytest.mark.parametrize(
    ("data", "row"),
    [
        (line(custom_id="k", response={"status_code": 200, "body": {"a": 1}}), (200, None, {"a": 1})),
        (line(custom_id="k", response=None, error={"code": "batch_expired"}), (0, "batch_expired", None)),
        (
            line(custom_id="k", response={"status_code": 400, "body": {"error": {"code": "c"}}}),
            (400, "c", {"error": {"code": "c"}}),
        ),
        (line(custom_id="k", response={"body": {"error": None}}, error={"code": "e"}), (0, "e", {"error": None})),
        (line(custom_id="k", response={"status_code": 500, "body": "x"}), (500, None, "x")),
        (line(custom_id="other", response={}), None),
        (line(response={}), None),
        (b"[]", None),
        (b"not json", None),
        (line(custom_id="k", response={"status_code": "x"}), None),
    ],
)
def test_a_row_of_a_batch_is_read_and_what_is_none_is_passed_over(data, row):
    found = answered_rows([b"", data + b"\n" + line(custom_id="k", response={"status_code": 999})], ["k"])
    expected = row or (999, None, None)
    assert [(each.status, each.code, each.body) for each in found.values()] == [expected]
