"""Sections of ``dataset.toml``: their types and limits."""

from enum import StrEnum
from pathlib import Path

import pytest
from pydantic import ValidationError

from build_dataset.schemas.dataset import DatasetParams, SourceParams
from build_dataset.schemas.params import Address, Params, Person, Share, VariableName, non_semantic, option


class Kind(StrEnum):
    ONE = "one"


class Below(Params):
    size: int = option(1, "Size")
    fast: bool = non_semantic(True, "Speed")


class Example(Params):
    url: Address = option("https://api.example.org/v1", "Address")
    key: VariableName = non_semantic("KEY", "Variable")
    who: Person = option("a", "Person")
    share: Share = option(0.5, "Share")
    path: Path = option(Path("x/y"), "Path")
    kind: Kind = option(Kind.ONE, "Kind")
    below: Below = Below()
    several: list[Below] = option([Below()], "Several")
    named: dict[str, Below] = option({"a": Below()}, "Named")


def test_what_changes_no_result_is_left_out_at_every_depth():
    assert Example().semantic() == {
        "url": "https://api.example.org/v1",
        "who": "a",
        "share": 0.5,
        "path": "x/y",
        "kind": "one",
        "below": {"size": 1},
        "several": [{"size": 1}],
        "named": {"a": {"size": 1}},
    }
    assert Example().ignores() == frozenset()


@pytest.mark.parametrize(
    ("given", "found"),
    [("http://127.0.0.1:8000/v1/", "http://127.0.0.1:8000/v1"), ("https://api.example.org", "https://api.example.org")],
)
def test_an_address_has_no_slash_at_its_end(given, found):
    assert Example(url=given).url == found


@pytest.mark.parametrize(
    "given",
    [
        "api.example.org",
        "ftp://example.org",
        "https://",
        "http://example.org:0/v1",
        "https://user@example.org",
        "https://:password@example.org",
        "https://example.org/v1?key=x",
    ],
)
def test_an_address_holds_no_secret(given):
    with pytest.raises(ValidationError):
        Example(url=given)


@pytest.mark.parametrize("given", ["sk-abc", "1KEY", "", "MY KEY", "KEY\n"])
def test_a_key_itself_is_no_name_of_a_variable(given):
    with pytest.raises(ValidationError, match="never the key itself"):
        Example(key=given)
    assert Example(key="_my_Key1").key == "_my_Key1"


def test_people_are_known_without_capitals():
    assert Example(who=" Zhang@Example.org ").who == "zhang@example.org"


@pytest.mark.parametrize(("share", "is_one"), [(0, True), (1, True), (-0.01, False), (1.01, False)])
def test_a_share_is_from_0_to_1(share, is_one):
    if is_one:
        assert Example(share=share).share == share
    else:
        with pytest.raises(ValidationError):
            Example(share=share)


def test_an_unknown_key_is_an_error():
    with pytest.raises(ValidationError):
        Example(other=1)


@pytest.mark.parametrize(
    "wrong",
    [
        {"date": "2026-1-2"},
        {"date": "20260102"},
        {"date": "2026-02-30"},
        {"version": "1.0"},
        {"version": "1.0.0.0"},
        {"version": "v1.0.0"},
        {"version": "1.0.1234567890"},
        {"seed": -1},
        {"seed": 2**32},
        {"name": "a b"},
        {"loss_alarm": 1.1},
    ],
)
def test_a_dataset_that_cannot_be_is_refused(wrong):
    with pytest.raises(ValidationError):
        DatasetParams(**{"name": "demo"} | wrong)


def test_the_ends_of_what_a_dataset_may_say():
    found = DatasetParams(name="a-b_c.1", date="2026-01-02", version="123456789.0.0", seed=2**32 - 1, loss_alarm=1)
    assert found.date == "2026-01-02"
    assert DatasetParams(name="demo", seed=0, loss_alarm=0).seed == 0


def test_columns_that_are_set_by_hand():
    source = SourceParams(stem="题", options=["甲", "乙"], answer="key", answer_as="letters")
    assert source.columns() == {"stem": "题", "answer": "key"}
    assert source.headers() == {"题", "key", "甲", "乙"}
    assert SourceParams(options="all").headers() == {"all"}
