import polars as pl
import pytest

from pipeline.split.params import SplitParams
from schemas.errors import UserError


def earlier(path, **splits):
    rows = [(name, split) for split, names in splits.items() for name in names]
    pl.DataFrame(rows, schema=["question_id", "split"], orient="row").write_parquet(
        path / "assignments.parquet"
    )
    return path


def release(path, frame, of):
    path.mkdir()
    for name in ("train", "validation", "test"):
        ids = [question for question, split in of.items() if split == name]
        frame.filter(pl.col("question_id").is_in(ids)).write_parquet(path / f"{name}.parquet")
    return path


def many(count=40, prefix="q"):
    return [{"question_id": f"{prefix}{number:02d}"} for number in range(count)]


def test_a_question_is_known_again_by_what_it_says_when_its_file_changed(tables, split, tmp_path):
    old = tables([{"question_id": f"aaaa-r{number:03d}", "stem": f"题 {number}"} for number in range(50)])
    first = split(old)
    folder = release(tmp_path / "export", old["questions"], first.of)
    new = [{"question_id": f"bbbb-r{number:03d}", "stem": f"题  {number}"} for number in range(80)]
    second = split(tables(new), previous=folder, seed=99)
    for number in range(50):
        assert second.of[f"bbbb-r{number:03d}"] == first.of[f"aaaa-r{number:03d}"]
    assert second.result.facts["kept_from_previous"] == 50


def test_a_survivor_inherits_the_split_of_what_was_merged_into_it(tables, split, tmp_path):
    path = earlier(tmp_path, validation=["old", *(f"q{number:02d}" for number in range(30))])
    exam = tables([*many(), {"question_id": "better copy"}], merges=[("old", "better copy")])
    for seed in range(5):  # validation is too large already: nothing else could bring it there
        assert split(exam, previous=path, seed=seed).of["better copy"] == "validation"


def test_when_a_new_question_links_train_and_test_the_training_question_is_retired(tables, split, tmp_path):
    path = earlier(tmp_path, train=["q00", *(f"q{number:02d}" for number in range(2, 40))], test=["q01"])
    exam = tables([*many(), {"question_id": "link"}], clusters={"q00": "c", "q01": "c", "link": "c"})
    done = split(exam, previous=path)
    assert done.of["q01"] == "test"
    assert done.of["link"] == "test"
    assert "q00" not in done.of
    assert [(item.item_id, item.reason) for item in done.result.rejects] == [("q00", "released_elsewhere")]
    assert any("left out" in note for note in done.result.notes)


def test_a_split_that_is_already_too_large_gets_nothing_new(tables, split, tmp_path):
    path = earlier(tmp_path, test=[f"q{number:02d}" for number in range(30)])
    done = split(tables(many(60)), previous=path)
    assert sorted(name for name, its in done.of.items() if its == "test") == [
        f"q{number:02d}" for number in range(30)
    ]


@pytest.mark.parametrize(
    ("content", "hint"),
    [
        (None, "no earlier release there"),
        (pl.DataFrame({"question_id": ["q"]}), "needs the columns"),
        (pl.DataFrame({"question_id": ["q"], "split": ["dev"]}), "unknown splits"),
        (pl.DataFrame({"question_id": ["q", "q"], "split": ["train", "test"]}), "more than once"),
    ],
)
def test_what_is_no_earlier_release_is_told_in_one_line(tables, split, tmp_path, content, hint):
    if content is not None:
        content.write_parquet(tmp_path / "assignments.parquet")
    with pytest.raises(UserError, match=hint) as caught:
        split(tables(many()), previous=tmp_path)
    assert "\n" not in str(caught.value)


def test_a_file_that_is_not_parquet_is_told(tables, split, tmp_path):
    file = tmp_path / "old.parquet"
    file.write_bytes(b"not parquet")
    with pytest.raises(UserError, match="cannot be used"):
        split(tables(many()), previous=file)


def test_the_fingerprint_follows_what_the_earlier_release_says(tmp_path):
    params = SplitParams(previous=earlier(tmp_path, test=["a"]))
    before = params.semantic()
    earlier(tmp_path, test=["b"])
    assert params.semantic() != before
    assert SplitParams(previous=tmp_path / "nowhere").semantic()["previous"] == [str(tmp_path / "nowhere")]
