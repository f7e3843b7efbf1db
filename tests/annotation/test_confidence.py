import json
import math

import pytest
from hypothesis import given, strategies as st

from build_dataset.annotation.llm.messages import Answer, ChatRequest, Usage
from build_dataset.annotation.llm_annotator import LlmAnnotator, value_probability
from build_dataset.annotation.params import AnnotateLlmOptions
from tests.annotation.scripted_server import GOOD_TEXT, Reply
from tests.annotation.test_llm_annotator import questions
from tests.conftest import MemoryStore


def answer(*tokens: tuple[str, float]) -> Answer:
    text = "".join(token for token, _ in tokens)
    logprobs = [(len(token.encode()), math.log(share)) for token, share in tokens]
    return Answer(ChatRequest("q", []), text, "stop", Usage(), None, logprobs)


def test_a_value_is_as_probable_as_the_tokens_it_touches():
    found = answer(('{"疾病组', 0.5), ('":"', 0.9), ("1", 0.8), ("3", 0.5), ('","难度":"', 0.9), ('2"}', 0.7))
    assert value_probability(found, ["疾病组"]) == pytest.approx(0.4)
    assert value_probability(found, ["disease", "难度"]) == pytest.approx(0.7 * 0.9 / 0.9)
    assert value_probability(found, ["科室"]) is None


def test_numbers_without_quotes_count_and_what_a_model_thinks_aloud_before_does_not():
    found = answer(('{ "难度" : ', 1.0), ("13", 0.6), (" }", 1.0))
    assert value_probability(found, ["难度"]) == pytest.approx(0.6)
    found = answer(('<think>"难度":"1"</think>', 0.1), ('{"难度":"', 1.0), ("2", 0.8), ('"}', 1.0))
    assert value_probability(found, ["难度"]) == pytest.approx(0.8)


@given(st.text(), st.text(min_size=1))
def test_any_answer_has_a_probability_or_none(text, key):
    found = value_probability(answer((text, 0.5)), [key])
    assert found is None or 0 <= found <= 1


def verdicts_of(serve, tokens):
    """Verdicts of the good answer, whose server tells these tokens of it."""
    body = json.loads(Reply().body("m"))
    body["choices"][0]["logprobs"] = {"content": tokens}
    server = serve(lambda *given: Reply(raw=json.dumps(body).encode()))
    options = AnnotateLlmOptions(base_url=server.url, model="m", max_retries=0)
    (found,) = LlmAnnotator(options, MemoryStore()).annotate(questions(1), lambda _: None)
    return found.verdicts


TRIMMED = ([{"token": " ", "logprob": -3.0}], [{"token": "<end>", "logprob": -3.0}])
"""Tokens that a server left out of its text, before and after it."""


@pytest.mark.parametrize(("before", "after"), [([], []), TRIMMED])
@pytest.mark.parametrize("in_bytes", [True, False])
def test_the_probability_of_its_tokens_is_a_label_s_confidence(serve, before, after, in_bytes):
    tokens = [{"token": each, "logprob": 0.0} | ({"bytes": [*each.encode()]} if in_bytes else {}) for each in GOOD_TEXT]
    tokens[GOOD_TEXT.index("循环")]["logprob"] = math.log(0.25)
    found = verdicts_of(serve, [*before, *tokens, *after])
    assert found["disease_group"].confidence == pytest.approx(0.25)
    assert found["competency"].confidence == found["difficulty"].confidence == 1


@pytest.mark.parametrize("tokens", [[{"token": "x", "logprob": -1.0}], [{"logprob": 0}], [None], "junk", None, {}])
def test_logprobs_that_are_none_or_not_of_this_text_are_no_confidence(serve, tokens):
    assert {verdict.confidence for verdict in verdicts_of(serve, tokens).values()} == {None}
