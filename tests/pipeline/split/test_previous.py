import random

import polars as pl
import pytest

from build_dataset.pipeline.releases import every_release
from build_dataset.schemas.dataset import DatasetParams
from build_dataset.schemas.errors import UserError


def many(count=40, prefix="q"):
    return [{"question_id": f"{prefix}{number:02d}"} for number in range(count)]


def splits(**names):
    return {name: split for split, its in names.items() for name in its}


def test_a_question_is_known_again_by_what_it_says_when_its_file_changed(tables, split, release, tmp_path):
    old = tables([{"question_id": f"aaaa-r{number:03d}", "stem": f"题 {number}"} for number in range(50)])
    first = split(old)
    folder = release(tmp_path, "1.0.0", old["questions"], first.of)
    new = [{"question_id": f"bbbb-r{number:03d}", "stem": f"题  {number}"} for number in range(80)]
    second = split(tables(new), releases=folder, seed=99)
    for number in range(50):
        assert second.of[f"bbbb-r{number:03d}"] == first.of[f"aaaa-r{number:03d}"]
    assert second.result.facts["kept_from_releases"] == 50
    assert second.result.facts["releases"] == ["1.0.0"]


def test_a_survivor_inherits_the_split_of_what_was_merged_into_it(tables, split, release, tmp_path):
    names = ["old", *(f"q{number:02d}" for number in range(30))]
    old = tables([{"question_id": name} for name in names])["questions"]
    folder = release(tmp_path, "1.0.0", old, splits(validation=names))
    exam = tables([*many(), {"question_id": "better copy"}], merges=[("old", "better copy")])
    for seed in range(5):  # validation is too large already: nothing else could bring it there
        assert split(exam, releases=folder, seed=seed).of["better copy"] == "validation"


def test_when_a_new_question_links_train_and_test_the_training_question_is_retired(tables, split, release, tmp_path):
    of = splits(train=["q00", *(f"q{number:02d}" for number in range(2, 40))], test=["q01"])
    folder = release(tmp_path, "1.0.0", tables(many())["questions"], of)
    exam = tables([*many(), {"question_id": "link"}], clusters={"q00": "c", "q01": "c", "link": "c"})
    done = split(exam, releases=folder)
    assert done.of["q01"] == "test"
    assert done.of["link"] == "test"
    assert "q00" not in done.of
    assert [(item.item_id, item.reason) for item in done.result.rejects] == [("q00", "released_elsewhere")]
    assert any("left out" in note for note in done.result.notes)


def test_a_split_that_is_already_too_large_gets_nothing_new(tables, split, release, tmp_path):
    names = [f"q{number:02d}" for number in range(30)]
    folder = release(tmp_path, "1.0.0", tables(many(30))["questions"], splits(test=names))
    done = split(tables(many(60)), releases=folder)
    assert sorted(name for name, its in done.of.items() if its == "test") == names


def test_the_latest_release_counts_and_what_it_left_out_is_remembered_from_the_one_before(
    tables, split, release, tmp_path
):
    every = tables(many())["questions"]
    names = every["question_id"].to_list()
    release(tmp_path, "1.9.0", every, dict.fromkeys(names, "test"))
    release(tmp_path, "1.10.0", every.head(30), dict.fromkeys(names[:30], "train"))
    done = split(tables(many()), releases=tmp_path)
    assert {done.of[name] for name in names[:30]} == {"train"}
    assert {done.of[name] for name in names[30:]} == {"test"}
    assert done.result.facts["releases"] == ["1.9.0", "1.10.0"]


def test_releases_grow_and_no_question_ever_moves(tables, split, release, tmp_path):
    lots = random.Random(1)
    ever: dict[str, str] = {}
    for version in range(5):
        names = [f"q{number:03d}" for number in range(100 + 60 * version) if lots.random() < 0.8]
        exam = tables([{"question_id": name} for name in names])
        done = split(exam, releases=tmp_path, seed=version)
        assert all(done.of[name] == ever.get(name, done.of[name]) for name in names)
        ever |= done.of
        release(tmp_path, f"1.{version}.0", exam["questions"], done.of)


def test_without_a_release_every_question_is_drawn(tables, split, tmp_path):
    assert split(tables(many()), releases=tmp_path / "none").result.facts["releases"] == []


@pytest.mark.parametrize(
    ("damage", "hint"),
    [
        (lambda folder: (folder / "test.parquet").unlink(), r"no release there \(test.parquet is missing\)"),
        (lambda folder: (folder / "test.parquet").write_bytes(b"not parquet"), "cannot be read"),
        (
            lambda folder: pl.DataFrame({"question_id": ["q"]}).write_parquet(folder / "test.parquet"),
            "needs the columns question_id, stem",
        ),
        (
            lambda folder: (folder / "test.parquet").write_bytes((folder / "train.parquet").read_bytes()),
            "question q00 is there more than once",
        ),
    ],
)
def test_what_is_no_release_is_told_in_one_line(tables, split, release, tmp_path, damage, hint):
    exam = tables(many())
    release(tmp_path, "1.0.0", exam["questions"], splits(train=[f"q{number:02d}" for number in range(40)]))
    damage(tmp_path / "1.0.0")
    with pytest.raises(UserError, match=hint) as caught:
        split(exam, releases=tmp_path)
    assert "\n" not in str(caught.value)


def test_releases_stand_in_the_order_of_their_versions(tables, release, tmp_path):
    questions = tables(many())["questions"]
    for version in ("0.9.0", "0.10.0", "0.2.0"):
        release(tmp_path, version, questions, {})
    (tmp_path / "notes").mkdir()
    (tmp_path / "9.9.9").write_text("a file")
    found = every_release(DatasetParams(name="d", releases=tmp_path))
    assert [path.name for path in found] == ["0.2.0", "0.9.0", "0.10.0"]
