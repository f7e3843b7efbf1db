import json

import pytest
from hypothesis import given, strategies as st

from build_dataset.annotation.llm.messages import BadAnswerError, Reason
from build_dataset.annotation.llm_annotator import LlmAnnotator, read_labels
from build_dataset.annotation.params import AnnotateLlmOptions, AnnotateParams
from build_dataset.pipeline.annotate import choose, problems
from build_dataset.schemas.errors import UserError
from build_dataset.schemas.questions import Question
from build_dataset.schemas.taxonomy import dimensions
from tests.annotation.scripted_server import GOOD, GOOD_TEXT, Reply
from tests.conftest import MemoryStore
from tests.making import make_question

ALL = tuple(dimensions().values())


def questions(count: int) -> list[Question]:
    stems = [f"第{n}题：高血压首选的药物是" for n in range(count)]
    return [make_question(stem, "氢氯噻嗪 甘露醇", None, question_id=f"q{n}", number=n) for n, stem in enumerate(stems)]


def options(server, **more) -> AnnotateLlmOptions:
    return AnnotateLlmOptions(base_url=server.url, model="m", max_retries=0, **more)


def run(server, count, store=None, **more):
    annotator = LlmAnnotator(options(server, **more), store if store is not None else MemoryStore())
    return list(annotator.annotate(questions(count), lambda done: None))


def test_one_request_a_question_gives_all_five_labels(serve):
    server = serve()
    found = run(server, 4)
    assert sum(server.asked.values()) == 4
    for labelled in found:
        assert {name: verdict.label.zh for name, verdict in labelled.verdicts.items()} == {
            dimension.name: GOOD[dimension.zh] for dimension in ALL
        }
        assert [name for name, verdict in labelled.verdicts.items() if verdict.estimate] == ["difficulty"]


def test_what_a_failed_answer_cost_is_told(serve):
    server = serve(lambda question, earlier, body: Reply(finish_reason="length"))
    (found,) = run(server, 1, price_in=10.0, price_out=10.0)
    [bill] = found.requests
    assert (bill.unusable, bill.cost) == (1, 0)
    assert bill.unusable_cost == pytest.approx(110 * 10 / 1e6)


@pytest.mark.parametrize(
    "text",
    [
        GOOD_TEXT,
        f"```json\n{GOOD_TEXT}\n```",
        f"<think>也许是 {{肿瘤}}？</think>\n{GOOD_TEXT}",
        f"标注如下：{GOOD_TEXT}。",
        json.dumps({dimension.name: dimension.find(GOOD[dimension.zh]).en for dimension in ALL}),
        json.dumps({dimension.en.upper(): dimension.find(GOOD[dimension.zh]).abbr for dimension in ALL}),
    ],
)
def test_labels_are_read_in_any_spelling_the_taxonomy_knows(text):
    found = read_labels(text)
    assert {name: label.zh for name, label in found.items()} == {item.name: GOOD[item.zh] for item in ALL}


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"疾病组": "心脏病"}, Reason.INVALID_LABEL),
        ({"难度": None}, Reason.MALFORMED_JSON),
        ({"难度": ["易", "较易"]}, Reason.INVALID_LABEL),
        ({"能力维度": ""}, Reason.INVALID_LABEL),
    ],
)
def test_what_is_not_in_the_set_is_never_guessed(change, reason):
    with pytest.raises(BadAnswerError) as error:
        read_labels(json.dumps({**GOOD, **change}))
    assert error.value.reason is reason


JSON = st.recursive(st.none() | st.integers() | st.text(), lambda inner: st.dictionaries(st.text(), inner))


@given(st.text() | JSON.map(json.dumps))
def test_any_text_and_any_json_is_labels_or_a_classified_failure(text):
    with pytest.raises(BadAnswerError):
        read_labels(text)


def test_a_forgotten_key_is_told_and_never_turns_into_other_labels(monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    params = AnnotateParams(llm=AnnotateLlmOptions(model="m"))
    (problem,) = problems(params, None)
    assert "OPENAI_API_KEY" in problem
    with pytest.raises(UserError, match="OPENAI_API_KEY"):
        choose(params, MemoryStore())
