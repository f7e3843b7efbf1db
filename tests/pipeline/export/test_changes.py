from pathlib import Path

import polars as pl
import pytest
from hypothesis import given, settings, strategies as st

from build_dataset.pipeline.export.card import changelog
from build_dataset.pipeline.export.changes import (
    KINDS,
    ReleaseComparison,
    compare_releases as compare_merged,
    next_version,
)
from build_dataset.pipeline.releases import parse_version, read_release
from build_dataset.schemas.dataset import DatasetParams
from build_dataset.schemas.errors import UserError
from build_dataset.schemas.questions import Merge
from build_dataset.schemas.release import Change, ReleaseRow
from build_dataset.schemas.taxonomy import dimensions

SPLITS = ("train", "validation", "test")
OPTIONS = [{"label": "A", "text": "甲"}, {"label": "B", "text": "乙"}]
SAME = {"question_type": "A1", "options": OPTIONS, "answer": ["A"], "document": "d"}
SAME |= {f"{name}_status": "unreviewed" for name in dimensions()}


def row(name, **more):
    return {"question_id": name, "stem": f"题 {name}", **SAME, **more}


def splits(**rows):
    schema = ReleaseRow.polars_schema()
    return {name: pl.DataFrame(rows.get(name, []), schema=schema) for name in SPLITS}


def old(**rows):
    return pl.concat(frame.with_columns(split=pl.lit(name)) for name, frame in splits(**rows).items())


def compare(old, new):
    return compare_merged(old, new, Merge.to_frame([]))


def told(changes):
    return [
        (name, kind, columns) for name, kind, columns in changes.rows.select("question_id", "change", "columns").rows()
    ]


BASE = {"train": [row("a"), row("b")], "validation": [row("c")], "test": [row("d")]}


def test_what_is_the_same_is_no_change():
    changes = compare(old(**BASE), splits(**BASE))
    assert changes.rows.is_empty()
    assert changes.rows.schema == Change.polars_schema()
    assert changes.level() == "patch"


@pytest.mark.parametrize(
    ("new", "expected", "level"),
    [
        ({**BASE, "test": [row("d"), row("e")]}, [("e", "added", [])], "minor"),
        ({**BASE, "train": [row("a")]}, [("b", "removed", [])], "minor"),
        ({**BASE, "test": []}, [("d", "removed", [])], "major"),
        ({**BASE, "train": [row("a"), row("b", stem="改")]}, [("b", "changed", ["stem"])], "minor"),
        ({**BASE, "test": [row("d", stem="改", answer=["B"])]}, [("d", "changed", ["stem", "answer"])], "major"),
        (
            {**BASE, "validation": [row("c", accepted_answers=[["A"], ["B"]])]},
            [("c", "changed", ["accepted_answers"])],
            "major",
        ),
        (
            {**BASE, "test": [row("d", options=[{"label": "A", "text": "甲"}])]},
            [("d", "changed", ["options"])],
            "major",
        ),
        ({**BASE, "test": [row("d", competency="诊断")]}, [("d", "relabelled", ["competency"])], "minor"),
        (
            {**BASE, "test": [row("d", explanation="因为", number=3, document="renamed")]},
            [("d", "updated", ["explanation"])],
            "patch",
        ),
        ({**BASE, "train": [row("a")], "test": [row("b"), row("d")]}, [("b", "moved", [])], "major"),
        ({**BASE, "train": [row("a"), row("z", stem="题 b")]}, [("z", "renamed", [])], "major"),
    ],
)
def test_each_kind_of_change_is_told_and_asks_for_its_version(new, expected, level):
    changes = compare(old(**BASE), splits(**new))
    assert told(changes) == expected
    assert changes.level() == level
    assert {kind: count for kind, count in changes.counts().items() if count} == {expected[0][1]: 1}


def test_where_a_question_was_and_is_is_told():
    changes = compare(
        old(**BASE), splits(train=[row("a"), row("z", stem="题 b")], validation=[row("d")], test=[row("n")])
    )
    rows = {(item.question_id, item.change): item for item in Change.from_frame(changes.rows)}
    assert (rows["c", "removed"].split, rows["c", "removed"].previous_split) == (None, "validation")
    assert (rows["n", "added"].split, rows["n", "added"].previous_split) == ("test", None)
    assert (rows["d", "moved"].split, rows["d", "moved"].previous_split) == ("validation", "test")
    assert (rows["z", "renamed"].previous_id, rows["z", "renamed"].previous_split) == ("b", "train")
    assert all(item.previous_id is None for key, item in rows.items() if key[1] != "renamed")


def test_a_question_may_change_in_several_ways_at_once():
    changes = compare(old(test=[row("d")]), splits(train=[row("d", stem="改", difficulty="易", explanation="新")]))
    assert [kind for _, kind, _ in told(changes)] == ["changed", "moved", "relabelled", "updated"]


def test_a_corrected_text_is_changed_not_removed_and_added_whatever_its_id():
    stem = "患者，男，65岁。突发胸痛2小时，心电图示ST段抬高。首选的治疗是"
    changes = compare(old(test=[row("a", stem=stem)]), splits(test=[row("z", stem=stem.replace("65", "56"))]))
    assert told(changes) == [("z", "changed", ["stem"])]
    assert changes.rows["previous_id"].to_list() == ["a"]


def test_ids_that_were_dealt_anew_do_not_change_questions():
    stems = ["心力衰竭最常见的诱因是哪一项", "支气管哮喘首选的药物是哪一种", "慢性胃炎最主要的病因是什么"]
    before = [row(str(at), stem=stem) for at, stem in enumerate(stems)]
    after = [row(str(at), stem=stem) for at, stem in enumerate(stems[1:])]
    counts = compare(old(train=before), splits(train=after)).counts()
    assert {kind: count for kind, count in counts.items() if count} == {"removed": 1, "renamed": 2}


def test_two_questions_that_say_the_same_are_not_guessed_to_be_a_third():
    changes = compare(old(train=[row("a", stem="同"), row("b", stem="同")]), splits(train=[row("z", stem="同")]))
    assert told(changes) == [("a", "removed", []), ("b", "removed", []), ("z", "added", [])]


def test_columns_that_come_and_go_are_told():
    before = old(**BASE)
    new = compare(before.drop("difficulty_estimate"), splits(**BASE))
    assert (new.columns_added, new.columns_removed, new.level()) == (("difficulty_estimate",), (), "minor")
    gone = compare(before.with_columns(topic=pl.lit("x")), splits(**BASE))
    assert (gone.columns_added, gone.columns_removed, gone.level()) == ((), ("topic",), "major")
    assert gone.rows.is_empty()


@given(
    st.dictionaries(st.integers(0, 30), st.sampled_from(SPLITS)),
    st.dictionaries(st.integers(0, 30), st.sampled_from(SPLITS)),
)
@settings(max_examples=50, deadline=None)
def test_added_removed_and_moved_add_up(before, after):
    def rows(of):
        return {
            name: [row(f"q{number:02d}") for number, split in sorted(of.items()) if split == name] for name in SPLITS
        }

    counts = compare(old(**rows(before)), splits(**rows(after))).counts()
    assert counts["added"] == len(after.keys() - before.keys())
    assert counts["removed"] == len(before.keys() - after.keys())
    assert counts["moved"] == sum(before[key] != after[key] for key in before.keys() & after.keys())
    assert sum(counts.values()) == counts["added"] + counts["removed"] + counts["moved"]
    assert list(counts) == list(KINDS)


@pytest.mark.parametrize(
    ("version", "level", "following"),
    [
        ("1.2.3", "major", (2, 0, 0)),
        ("1.2.3", "minor", (1, 3, 0)),
        ("1.2.3", "patch", (1, 2, 4)),
        ("0.2.3", "major", (0, 3, 0)),
        ("0.2.3", "minor", (0, 2, 4)),
        ("0.2.3", "patch", (0, 2, 4)),
    ],
)
def test_versions_go_up_as_semantic_versioning_has_it(version, level, following):
    assert next_version(parse_version(version), level) == following


def test_a_release_that_cannot_be_read_is_told(tmp_path):
    for name in SPLITS:
        (tmp_path / f"{name}.parquet").write_bytes(b"no")
    with pytest.raises(UserError, match="earlier release") as caught:
        read_release(tmp_path)
    assert "\n" not in str(caught.value)


def release(export, publish, tables, tmp_path, version, **dataset) -> Path:
    made = export(tables, {"version": version, **dataset})
    return publish(made, tmp_path / "releases" / version)


def test_an_export_tells_what_changed_since_the_previous_release(export, publish, tables, tmp_path):
    release(export, publish, tables, tmp_path, "1.0.0")
    unchanged = export(tables, {"version": "1.0.0"})
    assert unchanged.facts["release"]["previous"] == "1.0.0"
    assert unchanged.tables["changes"].is_empty()
    assert "since release 1.0.0: no changes" in unchanged.notes
    tables["questions"] = tables["questions"].with_columns(
        stem=pl.when(pl.col("question_id") == "abcdef01-1-005").then(pl.lit("改了")).otherwise("stem")
    )
    draft = export(tables, {"version": "1.0.0"})
    assert draft.facts["release"] == {
        "version": "1.0.0",
        "previous": "1.0.0",
        "level": "major",
        "suggested": "2.0.0",
        "changes": {**dict.fromkeys(KINDS, 0), "changed": 1},
        "columns_added": [],
        "columns_removed": [],
    }
    assert any("set dataset.version to 2.0.0" in note for note in draft.notes)
    assert "## Unreleased (the changes ask for version 2.0.0)" in draft.files["CHANGELOG.md"].decode()
    made = export(tables, {"version": "2.0.0", "date": "2026-01-31"})
    changelog = made.files["CHANGELOG.md"].decode()
    assert "`abcdef01-1-005`: stem" in changelog
    assert changelog.index("## 2.0.0 (2026-01-31)") < changelog.index("## 1.0.0")
    assert changelog.rstrip().endswith("The first release.")
    assert "a **major** release" in made.described["README.md"].decode()
    assert not any("set dataset.version" in note for note in made.notes)


def test_the_history_of_all_releases_is_carried_on(export, publish, tables, tmp_path):
    for version in ("1.0.0", "1.0.1", "1.1.0"):
        release(export, publish, tables, tmp_path, version)
    changelog = export(tables, {"version": "1.1.1"}).files["CHANGELOG.md"].decode()
    found = [line for line in changelog.splitlines() if line.startswith("## ")]
    assert found == ["## 1.1.1", "## 1.1.0", "## 1.0.1", "## 1.0.0"]
    assert changelog.count("Changes of") == 1


def standing_to(before, after) -> ReleaseComparison:
    return ReleaseComparison("1.1.0", "1.0.0", compare(old(**before), splits(**after)), "1.1.0", "")


def changes_told(before, after) -> str:
    return changelog(DatasetParams(name="d", version="1.1.0"), standing_to(before, after))


def test_a_changelog_names_what_changed_but_not_what_was_added():
    before = {"train": [row("a"), row("b")], "test": [row("t")]}
    after = {"train": [row("a", stem="改"), row("new")], "test": [row("t")]}
    told = changes_told(before, after)
    assert "`a`: stem" in told
    assert "`b`" in told
    assert "`new`" not in told
    assert "| added: new 新增 | 1 | 0 | 0 | 1 |" in told
