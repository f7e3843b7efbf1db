from __future__ import annotations

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

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


def test_numbers_without_quotes_and_white_space_are_read_too():
    found = answer(('{ "疾病组" : ', 1.0), ("13", 0.6), (" }", 1.0))
    assert value_probability(found, ["疾病组"]) == pytest.approx(0.6)


def test_what_a_model_thinks_aloud_before_does_not_count():
    found = answer(('<think>"难度":"1"</think>', 0.1), ('{"难度":"', 1.0), ("2", 0.8), ('"}', 1.0))
    assert value_probability(found, ["难度"]) == pytest.approx(0.8)


@given(st.text(), st.text(min_size=1))
def test_any_answer_has_a_probability_or_none(text, key):
    found = value_probability(answer((text, 0.5)), [key])
    assert found is None or 0 <= found <= 1


def with_logprobs(tokens) -> bytes:
    body = json.loads(Reply().body("m"))
    body["choices"][0]["message"]["content"] = "".join(token["token"] for token in tokens)
    body["choices"][0]["logprobs"] = {"content": tokens}
    return json.dumps(body).encode()


def run(server, **more):
    options = AnnotateLlmOptions(base_url=server.url, model="m", max_retries=0, **more)
    return list(LlmAnnotator(options, MemoryStore()).annotate(questions(1), lambda _: None))


def test_the_probability_of_its_tokens_is_a_label_s_confidence(serve):
    tokens = [{"token": character, "bytes": [*character.encode()], "logprob": 0.0} for character in GOOD_TEXT]
    tokens[GOOD_TEXT.index("循环")]["logprob"] = math.log(0.25)
    server = serve(lambda *given: Reply(raw=with_logprobs(tokens)))
    (found,) = run(server)
    assert found.verdicts["disease_group"].confidence == pytest.approx(0.25)
    assert found.verdicts["competency"].confidence == 1


@pytest.mark.parametrize("tokens", [[{"token": "x", "logprob": -1.0}], [{"logprob": 0}], [None], "junk", None, {}])
def test_logprobs_that_are_none_or_not_of_this_text_are_no_confidence(serve, tokens):
    body = json.loads(Reply().body("m"))
    body["choices"][0]["logprobs"] = {"content": tokens}
    (found,) = run(serve(lambda *given: Reply(raw=json.dumps(body).encode())))
    assert {verdict.confidence for verdict in found.verdicts.values()} == {None}


def test_tokens_that_a_server_trimmed_from_the_text_are_left_out(serve):
    tokens = [{"token": character, "logprob": 0.0} for character in GOOD_TEXT]
    tokens[GOOD_TEXT.index("循环")]["logprob"] = math.log(0.25)
    around = [{"token": " ", "logprob": -3.0}, *tokens, {"token": "<end>", "logprob": -3.0}]
    body = json.loads(with_logprobs(around))
    body["choices"][0]["message"]["content"] = GOOD_TEXT
    (found,) = run(serve(lambda *given: Reply(raw=json.dumps(body).encode())))
    assert found.verdicts["disease_group"].confidence == pytest.approx(0.25)
    assert found.verdicts["difficulty"].confidence == 1
