from __future__ import annotations

import builtins

import pytest

from annotation import estimate as tokens


def test_openai_s_own_encodings_count_where_the_package_is_there():
    pytest.importorskip("bpe_openai", reason="the extra `tokens` is not installed")
    count, name = tokens.counter("gpt-4o")
    assert name == "o200k_base"
    assert count("hello world") == 2
    assert tokens.counter("gpt-4")[1] == "cl100k_base"
    assert tokens.counter("some-model-of-others")[1] == tokens.counter(None)[1] == "o200k_base"
    assert count("<|endoftext|>") > 1, "text of papers is never a control token"


def test_without_it_tokens_are_reckoned_and_that_is_said(monkeypatch):
    real = builtins.__import__

    def without(name, *given, **more):
        if name == "bpe_openai":
            raise ImportError
        return real(name, *given, **more)

    monkeypatch.setattr(builtins, "__import__", without)
    tokens.counter.cache_clear()
    count, name = tokens.counter("gpt-4o")
    assert (count("高血压"), name.startswith("by characters")) == (3, True)
    tokens.counter.cache_clear()


@pytest.mark.parametrize(("text", "expected"), [("高血压高血压高血压高", 8), ("abcdefghij", 3), ("", 0)])
def test_tokens_are_reckoned_by_kind_of_character(text, expected):
    assert tokens.reckon(text) == expected
