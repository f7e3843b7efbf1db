"""Options of annotating and reviewing that must fit each other."""

import pytest
from pydantic import ValidationError

from build_dataset.annotation.params import (
    AnnotateLlmOptions,
    AnnotateParams,
    CalibrateParams,
    ReviewParams,
    file_digest,
)
from build_dataset.schemas.errors import UserError
from build_dataset.schemas.identity import file_sha256

LLM = AnnotateLlmOptions(model="m", base_url="http://127.0.0.1:1/v1")


@pytest.mark.parametrize(
    ("params", "reviewed", "chosen", "learns"),
    [
        (AnnotateParams(), 99, "lexicon", True),
        (AnnotateParams(), 100, "learned", True),
        (AnnotateParams(llm=LLM), 500, "llm", False),
        (AnnotateParams(llm=LLM.model_copy(update={"shots": 1})), 0, "llm", True),
        (AnnotateParams(annotator="lexicon", llm=LLM), 500, "lexicon", False),
        (AnnotateParams(annotator="learned", llm=LLM), 0, "learned", True),
        (AnnotateParams(annotator="llm"), 500, "llm", False),
    ],
)
def test_the_annotator_follows_from_what_is_configured_and_reviewed(params, reviewed, chosen, learns):
    assert params.chosen(reviewed) == chosen
    assert params.learns() is learns
    assert params.ignores() == (frozenset() if learns else {"reviews/pulled", "reviews/asked"})


def test_only_options_of_the_annotator_that_is_asked_count(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("a")
    assert AnnotateParams(reviewed=path).semantic() == {"annotator": "auto", "reviewed": file_sha256(path)}
    assert AnnotateParams(annotator="lexicon", reviewed=path).semantic() == {"annotator": "lexicon"}
    assert AnnotateParams(annotator="learned").semantic() == {"annotator": "learned"}
    assert AnnotateParams(llm=LLM).semantic() == {"annotator": "llm", "llm": LLM.semantic()}


TWO = {"reviewers": ["a", "b"]}


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (TWO | {"adjudicators": ["b"]}, "b is among reviewers and adjudicators"),
        ({"reviewers": ["a", "A "]}, "somebody is twice among reviewers"),
        (TWO | {"quotas": {"c": 1}}, "c has a quota and is none of reviewers"),
        ({"assign": True}, "assign and quotas need reviewers"),
        (TWO | {"overlap": 0.5}, "overlap below 1 needs assign = true"),
    ],
)
def test_people_who_contradict_each_other_are_refused(given, told):
    with pytest.raises(ValidationError, match=told):
        ReviewParams(**given)


def test_without_reviewers_everybody_is_invited():
    assert ReviewParams().invites("x")
    named = ReviewParams(**TWO, adjudicators=["c"])
    assert [named.invites(who) for who in ("a", "c", "x")] == [True, True, False]


def test_a_file_that_is_not_there_is_told_with_its_option(tmp_path):
    with pytest.raises(UserError, match=r"x\.csv: No such file or directory: correct \[a\] b"):
        file_digest(tmp_path / "x.csv", "[a] b")
    path = tmp_path / "y"
    path.write_text("a")
    found = CalibrateParams(others=[path]).semantic()
    assert found == {"target": 0.9, "others": [file_sha256(path)]}
