"""Requests as they are sent and stored, and answers as endpoints give them."""

import pytest

from build_dataset.annotation.llm.messages import (
    Answer,
    BadAnswerError,
    ChatRequest,
    Failed,
    Reason,
    Usage,
    Waste,
    answer_of,
    billed_tokens,
    error_excerpt,
    final_part,
    has_message,
    is_another_model,
    json_object,
    message_text,
    share_outcome,
    stored_value,
)
from build_dataset.annotation.llm.options import LlmOptions

OPTIONS = LlmOptions(base_url="https://llm.example.org/v1", model="m", price_in=2, price_out=8)
ASKED = ChatRequest("q", [{"role": "user", "content": "题"}])


def completion(content: object = "甲", finish: str | None = "stop", **message: object) -> dict:
    return {"choices": [{"message": {"content": content, **message}, "finish_reason": finish}]}


def test_a_request_is_sent_with_what_is_set_and_nothing_else():
    plain = {"model": "m", "messages": [{"role": "user", "content": "题"}], "max_tokens": 1024}
    assert ASKED.body(OPTIONS) == plain | {"temperature": 0.0}
    reasoning = LlmOptions(model="m", send_temperature=False, max_tokens_field="max_completion_tokens", seed=7)
    request = ChatRequest("q", ASKED.messages, {"type": "json_object"}, sample=3, logprobs=True)
    assert request.body(reasoning) == {
        "model": "m",
        "messages": plain["messages"],
        "max_completion_tokens": 1024,
        "seed": 10,
        "response_format": {"type": "json_object"},
        "logprobs": True,
    }


def test_the_key_of_an_answer_is_what_can_change_it():
    others = [
        ChatRequest("q", ASKED.messages, sample=1),
        ChatRequest("q", ASKED.messages, keep_unfinished=True),
        ChatRequest("q", ASKED.messages, logprobs=True),
    ]
    assert len({request.key(OPTIONS) for request in (ASKED, *others)}) == 4
    assert ChatRequest("other", ASKED.messages).key(OPTIONS) == ASKED.key(OPTIONS)
    settings = {"model": "n", "base_url": "http://x/v1", "temperature": 0.5, "seed": 1, "max_tokens": 5}
    settings |= {"extra_body": {"top_p": 0.5}, "send_temperature": False}
    changed = [OPTIONS.model_copy(update={name: value}) for name, value in settings.items()]
    assert len({ASKED.key(options) for options in (OPTIONS, *changed)}) == 8
    faster = {"concurrency": 64, "timeout": 1, "max_retries": 0, "price_in": 1.0, "api_key_env": "OTHER"}
    assert ASKED.key(OPTIONS.model_copy(update=faster)) == ASKED.key(OPTIONS)


@pytest.mark.parametrize(
    ("value", "tokens"), [(0, 0), (10**8, 10**8), (10**8 + 1, None), (-1, None), ("5", None), (None, None)]
)
def test_only_counts_that_can_be_are_read(value, tokens):
    assert billed_tokens({"usage": {"prompt_tokens": value, "completion_tokens": 7}}) == Usage(tokens, 7)
    assert billed_tokens({"usage": {"completion_tokens": value}}) == Usage(None, tokens)
    assert billed_tokens({"usage": value}) == billed_tokens(value) == Usage(None, None)


@pytest.mark.parametrize(
    "value",
    [
        "x",
        {},
        {"choices": {}},
        {"choices": []},
        {"choices": ["x"]},
        {"choices": [{"message": "x"}]},
        {"choices": [{"message": {"content": 5}}]},
    ],
)
def test_other_json_is_no_completion(value):
    assert not has_message(value)


def test_a_message_may_be_text_parts_or_nothing():
    assert all(has_message(completion(content)) for content in ("x", ["x"], None))


TOOL = [{"function": {"arguments": '{"a": 1}'}}]


@pytest.mark.parametrize(
    ("content", "message", "text"),
    [
        ("甲", {}, "甲"),
        ("half \ud800", {}, "half ?"),
        ([{"text": "甲"}, "乙", {"image": 1}, 5], {}, "甲乙"),
        (None, {"tool_calls": TOOL}, '{"a": 1}'),
        (" ", {"tool_calls": [{"function": {"arguments": {"题": 1}}}]}, '{"题": 1}'),
        (None, {"tool_calls": []}, ""),
        (None, {"reasoning_content": 'so {"a": 2}'}, 'so {"a": 2}'),
        (None, {"reasoning": 'so {"a": 3}'}, 'so {"a": 3}'),
        (" ", {"reasoning": "no object"}, " "),
        ("甲", {"tool_calls": TOOL}, "甲"),
    ],
)
def test_the_text_of_a_message_is_found_where_servers_put_it(content, message, text):
    assert message_text(completion(content, **message)) == text


def test_an_evaluated_answer_is_the_text_alone():
    assert message_text(completion(None, tool_calls=TOOL), elsewhere=False) == ""


@pytest.mark.parametrize(
    ("text", "final"),
    [
        ("甲", "甲"),
        ("<think>x</think>甲", "甲"),
        ("x</think>y</think>甲", "甲"),
        ("<|channel|>analysis<|message|>x<|end|><|channel|>final<|message|>甲<|return|>\nmore", "甲"),
        ("甲<|call|>x", "甲"),
    ],
)
def test_thoughts_are_no_part_of_an_answer(text, final):
    assert final_part(text) == final


@pytest.mark.parametrize(
    ("content", "finish", "message", "reason"),
    [
        ("x", "stop", {"refusal": "no"}, Reason.REFUSED),
        ("x", "content_filter", {}, Reason.REFUSED),
        ("x", "length", {}, Reason.TRUNCATED),
        (" \n", "stop", {}, Reason.EMPTY),
    ],
)
def test_an_unfinished_answer_is_one_for_an_evaluation_alone(content, finish, message, reason):
    made = completion(content, finish, **message) | {"model": "m" * 300}
    with pytest.raises(BadAnswerError) as error:
        stored_value(made, Usage(1, 2), ASKED)
    assert error.value.reason == reason
    kept = stored_value(made, Usage(1, 2), ChatRequest("q", [], keep_unfinished=True))
    named = {"refused": "refusal", "truncated": "length", "empty": "stop"}
    tokens = {"prompt_tokens": 1, "completion_tokens": 2}
    assert kept == {"text": content, "finish_reason": named[reason], **tokens, "model": "m" * 200}


@pytest.mark.parametrize("finish", ["stop", None, "tool_calls", "function_call", "eos", "stop_sequence"])
def test_an_answer_that_ended_is_checked_and_stored(finish):
    checked: list[str] = []
    request = ChatRequest("q", [], check=checked.append)
    value = stored_value(completion("甲", finish), Usage(1, None), request)
    assert value == {
        "text": "甲",
        "finish_reason": "stop",
        "prompt_tokens": 1,
        "completion_tokens": None,
        "model": None,
    }
    assert checked == ["甲"]


def tokens(*pieces: tuple[str, float]) -> dict:
    return {"content": [{"token": piece, "logprob": value} for piece, value in pieces]}


@pytest.mark.parametrize(
    ("pieces", "found"),
    [
        ([("甲", -0.123456), ("B", -1.0)], [[3, -0.1235], [1, -1.0]]),
        ([(" ", -9.0), ("甲", -0.5), ("B\n", -2.0), ("\n", -3.0)], [[3, -0.5], [1, -2.0]]),
        ([("乙", -0.5)], None),
        ([("甲B", float("nan"))], None),
    ],
)
def test_log_probabilities_are_of_the_bytes_of_the_text(pieces, found):
    made = completion("甲B")
    made["choices"][0]["logprobs"] = tokens(*pieces)
    value = stored_value(made, Usage(), ChatRequest("q", [], logprobs=True))
    assert value.get("logprobs") == found
    assert "logprobs" not in stored_value(made, Usage(), ASKED)


def test_a_character_that_two_tokens_share_is_told_by_its_bytes():
    made = completion("甲")
    split = [{"token": "", "bytes": [*"甲".encode()[:2]], "logprob": -1}]
    split += [{"token": "", "bytes": [*"甲".encode()[2:]], "logprob": -2}]
    made["choices"][0]["logprobs"] = {"content": split}
    assert stored_value(made, Usage(), ChatRequest("q", [], logprobs=True))["logprobs"] == [[2, -1.0], [1, -2.0]]


def test_a_stored_value_is_an_answer_at_the_prices_of_now():
    value = {"text": "甲", "finish_reason": "stop", "prompt_tokens": 100, "completion_tokens": 10}
    answer = answer_of(ASKED, value | {"logprobs": [[3, -0.5]], "model": "m-1"}, OPTIONS)
    assert answer == Answer(ASKED, "甲", "stop", Usage(100, 10), 280 / 1e6, [(3, -0.5)], model="m-1")
    assert answer_of(ASKED, value | {"batched": True}, OPTIONS).cost == pytest.approx(140 / 1e6)
    assert answer_of(ASKED, value, LlmOptions(model="m")).cost is None
    assert answer_of(ASKED, value, OPTIONS).logprobs is None


def test_what_several_requests_share_is_paid_once():
    waste, other = Waste(1, 5, 5), ChatRequest("other", ASKED.messages)
    first, second = share_outcome(Answer(ASKED, "甲", "stop", Usage(3, 4), 0.5, waste=waste), [ASKED, other])
    assert (first.usage, first.cost, first.waste) == (Usage(3, 4), 0.5, waste)
    assert second == Answer(other, "甲", "stop", Usage(0, 0), 0.0)
    unpriced = share_outcome(Answer(ASKED, "甲", "stop", Usage(3, 4), None), [ASKED, other])[1]
    assert unpriced.cost is None
    failed = share_outcome(Failed(ASKED, Reason.ERROR, "d", waste), [ASKED, other])
    assert failed == [Failed(ASKED, Reason.ERROR, "d", waste), Failed(other, Reason.ERROR, "d")]


def test_an_object_is_found_inside_a_text():
    assert json_object('so: {"a": {"b": 1}} .') == {"a": {"b": 1}}


@pytest.mark.parametrize("text", ["", "[1]", "{", "x}{", '{"a": }', "{" * 100_000])
def test_a_text_without_an_object_is_of_no_use(text):
    with pytest.raises(BadAnswerError, match="malformed_json"):
        json_object(text)


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        (completion("甲\n 乙"), "甲 乙"),
        ("x" * 160, "x" * 160),
        ("x" * 161, "x" * 160 + "…"),
        ({"error": "题"}, '{"error": "题"}'),
        ("a\x07b", "a b"),
        ("my sk-abcdefgh is wrong", "my … is wrong"),
        ("my key is secret!", "my key is …!"),
        ("sk-abcde", "sk-abcde"),
    ],
)
def test_what_an_endpoint_says_is_shown_in_a_line_without_keys(monkeypatch, said, shown):
    monkeypatch.setenv("LLM_KEY", "secret")
    options = LlmOptions(base_url="https://llm.example.org/v1", model="m", api_key_env="LLM_KEY")
    assert error_excerpt(said, options) == shown


@pytest.mark.parametrize(
    ("asked", "told", "another"),
    [
        ("gpt-4o", "gpt-4o-2024-08-06", False),
        ("gpt-4o", "gpt-4o-mini", True),
        ("gpt-4o", "gpt-4o-mini-2024-07-18", True),
        ("gpt-4o-2024-05-13", "gpt-4o-2024-08-06", True),
        ("gpt-4o-2024-05-13", "gpt-4o", False),
        ("qwen/Qwen3-8B", "qwen3-8b", False),
        ("llama3", "llama3:latest", False),
        ("deepseek-chat", "deepseek-reasoner", True),
        ("m", None, False),
        (None, "m", False),
    ],
)
def test_another_model_is_told_from_a_dated_version_of_the_same(asked, told, another):
    assert is_another_model(asked, told) is another
