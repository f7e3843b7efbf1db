import hashlib
import json
import re
import sys

import polars as pl
import pytest
import yaml

from build_dataset.pipeline.export.card import column_meanings
from build_dataset.schemas.annotations import Correction, CorrectionStatus
from build_dataset.schemas.release import ReleaseRow
from tests.annotation.records import correction

SIZES = {"train": 4, "validation": 1, "test": 2}


def test_polars_duckdb_and_pandas_read_the_release(folder):
    import duckdb
    import pandas as pd

    for name, size in SIZES.items():
        path = folder / f"{name}.parquet"
        frame = pl.read_parquet(path)
        assert frame.schema == ReleaseRow.polars_schema()
        assert frame.height == size
        assert frame["question_id"].is_sorted()
        assert duckdb.sql(f"select count(*), count(disease_group) from '{path}'").fetchall() == [(size, size)]
        assert list(pd.read_parquet(path)["stem"]) == frame["stem"].to_list()
        list(ReleaseRow.from_frame(frame))


def test_the_files_are_zstd_with_statistics_and_labels_from_a_dictionary(folder):
    import pyarrow.parquet as pq

    group = pq.ParquetFile(folder / "train.parquet").metadata.row_group(0)
    columns = {group.column(place).path_in_schema: group.column(place) for place in range(group.num_columns)}
    assert {column.compression for column in columns.values()} == {"ZSTD"}
    assert columns["question_id"].statistics.min == "abcdef01-1-000"
    for name in ("disease_group", "disease_group_en", "competency", "difficulty_status", "exam_class"):
        assert "RLE_DICTIONARY" in columns[name].encodings


def test_datasets_loads_the_folder_with_its_named_splits_alone(folder, tmp_path, monkeypatch):
    for name in ("HF_HOME", "HF_DATASETS_CACHE", "HF_MODULES_CACHE", "XDG_CACHE_HOME"):
        monkeypatch.setenv(name, str(tmp_path / "hf"))
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    for module in [name for name in sys.modules if name.split(".")[0] in {"datasets", "huggingface_hub"}]:
        monkeypatch.delitem(sys.modules, module)
    import datasets

    loaded = datasets.load_dataset(str(folder))
    assert {name: part.num_rows for name, part in loaded.items()} == SIZES
    assert loaded["test"][0] == pl.read_parquet(folder / "test.parquet").row(0, named=True)


def test_an_empty_split_is_written_and_the_card_and_the_metadata_leave_it_out(export, tables):
    tables["assignments"] = tables["assignments"].with_columns(split=pl.lit("train"))
    result = export(tables)
    assert result.tables["test"].is_empty()
    assert result.tables["test"].schema == ReleaseRow.polars_schema()
    front = yaml.safe_load(result.described["README.md"].decode().split("---\n")[1])
    assert [part["split"] for part in front["configs"][0]["data_files"]] == ["train"]
    metadata = json.loads(result.described["croissant.json"])
    assert [record["@id"] for record in metadata["recordSet"]] == ["train"]
    assert any("no questions in validation, test" in note for note in result.notes)


def test_a_dataset_without_questions_is_written(export, tables):
    empty = {name: frame.clear() for name, frame in tables.items()}
    result = export(empty)
    assert result.counts.n_input == 0
    assert json.loads(result.files["cmb/train.json"]) == []


def test_the_card_opens_with_yaml_that_parses_whatever_the_names_are(export, tables):
    title = 'a: "b" - [c] {d} #e \u2028 \x85 \ufeff 🩺 `x`\n---\nlicense: stolen'
    result = export(tables, {"title": title, "license": "My own licence: v2", "language": "no"})
    card = result.described["README.md"].decode()
    head, _, _ = card.removeprefix("---\n").partition("\n---\n")
    front = yaml.safe_load(head)
    assert front["pretty_name"] == title
    assert front["language"] == ["no"]
    assert (front["license"], front["license_name"]) == ("other", "My own licence: v2")
    assert front["size_categories"] == ["n<1K"]
    assert front["configs"] == [
        {"config_name": "default", "data_files": [{"split": name, "path": f"{name}.parquet"} for name in SIZES]}
    ]


def test_text_cannot_break_out_of_the_card(export, tables):
    result = export(tables, {"title": "<img src=x onerror=y> | `t`", "description": "# h\n\n<script>a</script>"})
    body = result.described["README.md"].decode().split("\n---\n", 1)[1]
    assert "<script" not in body
    assert "<img" not in body
    assert "\n# h" not in body
    lengths = set()
    for block in re.findall(r"(?:^\|.*\n)+", body, flags=re.M):
        rows = [len(re.findall(r"(?<!\\)\|", line)) for line in block.strip().split("\n")]
        assert len(set(rows)) == 1, block
        lengths.add(rows[0])
    assert len(lengths) > 1


def test_the_card_names_the_offline_annotator_and_keeps_unreviewed_labels_apart(export, tables):
    result = export(tables)
    assert result.tables["train"]["difficulty_estimate"].to_list() == [False, True, True, True], "one was measured"
    card = result.described["README.md"].decode()
    assert "People corrected" not in card
    assert "`lexicon` (7 questions): an offline stand-in" in card
    assert "| ICD-11 disease group 疾病组 | 7 | 0 | 0 | 0 | 0 | 0 |" in card
    assert "not measured on people for 6 questions" in card


def test_labels_settled_by_experts_name_no_annotator(export, tables):
    tables["labels"] = tables["labels"].with_columns(status=pl.lit("agreed"), annotator=pl.lit(None, dtype=pl.String))
    result = export(tables)
    assert result.tables["train"]["annotator"].null_count() == 4
    assert "All labels are experts'." in result.described["README.md"].decode()


def test_questions_without_any_label_are_counted_and_their_labels_are_no_experts(export, tables):
    tables["labels"] = tables["labels"].filter(pl.col("question_id") != "abcdef01-1-000")
    assert "1 question without any label" in " ".join(export(tables).notes)
    tables["labels"] = tables["labels"].clear()
    card = export(tables).described["README.md"].decode()
    assert "No question has a label." in card
    assert "All labels are experts'." not in card


def test_missing_and_disputed_labels_stay_null(export, tables):
    labels = tables["labels"]
    first, second = (
        (pl.col("question_id") == f"abcdef01-1-00{n}") & (pl.col("dimension") == "competency") for n in (0, 1)
    )
    nothing = pl.lit(None, dtype=pl.String)
    disputed = labels.filter(second).with_columns(label=nothing, label_en=nothing, status=pl.lit("disputed"))
    tables["labels"] = pl.concat([labels.filter(~first & ~second), disputed])
    rows = export(tables).tables["train"]
    assert rows["competency"].to_list()[:2] == [None, None]
    assert rows["competency_en"].to_list()[:2] == [None, None]
    assert rows["competency_status"].to_list()[:2] == ["unreviewed", "disputed"]


def test_two_labels_in_one_dimension_are_a_mistake_and_not_a_choice(export, tables):
    twice = pl.concat([tables["labels"], tables["labels"].head(1)])

    with pytest.raises(ValueError, match="two labels in one dimension"):
        export({**tables, "labels": twice})


def test_annotators_are_named_in_one_order_and_only_where_they_gave_a_label(export, tables):
    first = pl.col("question_id") == "abcdef01-1-001"
    dimension = pl.col("dimension")
    tables["labels"] = tables["labels"].with_columns(
        annotator=pl.when(first & (dimension == "competency"))
        .then(pl.lit("llm:m"))
        .when(first & (dimension == "difficulty"))
        .then(pl.lit("silent"))
        .otherwise("annotator"),
        label=pl.when(first & (dimension == "difficulty")).then(None).otherwise("label"),
    )
    assert export(tables).tables["train"]["annotator"].to_list()[1] == "lexicon, llm:m"


def test_of_several_clusters_the_first_names_a_question(export, tables):
    more = [("abcdef01-1-001", "c2", "number"), ("abcdef01-1-001", "c0", "number")]
    more = pl.DataFrame(more, schema=tables["clusters"].schema, orient="row")
    tables["clusters"] = pl.concat([tables["clusters"], more])
    assert export(tables).tables["train"]["cluster_id"].to_list() == [None, "c0", None, None]


def test_corrected_parts_are_named_without_who_corrected_them(export, tables):
    made = {
        "abcdef01-1-000": ["option:B", "option:A", "answer", "verdict"],
        "abcdef01-1-001": ["verdict"],
        "abcdef01-1-004": ["shared_stem", "stem"],
    }
    said = {"note": "张医生", "status": CorrectionStatus.ACCEPTED}
    tables["corrections"] = Correction.to_frame(
        correction("zhang@example.org", "keep" if field == "verdict" else "B", question_id=name, field=field, **said)
        for name, fields in made.items()
        for field in fields
    )
    result = export(tables)
    assert result.tables["train"]["corrected"].to_list() == [["answer", "options"], [], [], []]
    assert result.tables["validation"]["corrected"].to_list() == [["shared_stem", "stem"]]
    assert result.tables["test"]["corrected"].to_list() == [[], []]
    card = result.described["README.md"].decode()
    assert "People corrected 2 questions" in card
    assert "`answer` 1, `options` 1, `shared_stem` 1, `stem` 1" in card
    released = [card, *(file.decode() for file in result.files.values()), str(result.tables)]
    assert not any("zhang" in text or "张医生" in text for text in released)


def test_a_question_without_an_answer_is_rejected_with_a_reason(export, tables):
    unanswered = pl.col("question_id") == "abcdef01-1-002"
    tables["questions"] = tables["questions"].with_columns(answer=pl.when(~unanswered).then("answer"))
    result = export(tables)
    assert [(item.item_id, item.reason) for item in result.rejects] == [("abcdef01-1-002", "no_answer")]
    assert (result.counts.n_input, result.counts.kept, result.counts.rejected) == (7, 6, 1)


def test_the_order_of_rows_changes_no_byte(export, tables):
    one = export(tables)
    for seed in range(4):
        other = export({name: frame.sample(fraction=1, shuffle=True, seed=seed) for name, frame in tables.items()})
        assert one.files == other.files
        assert all(frame.equals(other.tables[name]) for name, frame in one.tables.items())


def test_the_card_and_the_metadata_state_the_checksums_of_all_files(folder):
    card = (folder / "README.md").read_text(encoding="utf-8")
    metadata = json.loads((folder / "croissant.json").read_text(encoding="utf-8"))
    stated = {file["@id"]: file for file in metadata["distribution"]}
    data = [path for path in folder.rglob("*") if path.suffix in (".parquet", ".json", ".csv")]
    assert len(data) > 10
    for path in data:
        name, sha256 = path.relative_to(folder).as_posix(), hashlib.sha256(path.read_bytes()).hexdigest()
        if name == "manifest.json":
            continue
        assert f"| {name} | `{sha256}` |" in card
        if name not in ("croissant.json", "rejects.parquet", "review.parquet"):
            assert stated[name]["sha256"] == sha256
            assert stated[name]["contentSize"] == f"{path.stat().st_size} B"


def test_every_column_is_explained():
    assert list(column_meanings()) == ReleaseRow.column_names()


@pytest.mark.parametrize(("option", "left"), [("cmb_json", "cmexam/*.csv"), ("cmexam_csv", "cmb/*.json")])
def test_other_formats_can_be_left_out_and_the_card_names_those_that_are_there(export, tables, option, left):
    made = export(tables, **{option: False})
    folders = {name.partition("/")[0] for name in made.files}
    assert folders & {"cmb", "cmexam"} == {left.partition("/")[0]}
    card = made.described["README.md"].decode()
    assert [path for path in ("cmb/*.json", "cmexam/*.csv") if f"`{path}`" in card] == [left]


def test_statistics_are_a_file(export, tables):
    figures = json.loads(export(tables).files["statistics.json"])
    assert figures["total"]["questions"] == 7
    assert sum(row["train"] for row in figures["labels"]["difficulty"]) == 4
    assert figures["labels"]["difficulty"][0]["label_en"]


def test_a_question_that_people_settled_names_its_place_though_the_parser_let_it_wait(export, tables):
    tables["parse/questions"] = tables["questions"].head(6)
    tables["clean/questions"] = tables["questions"]
    (last,) = export(tables).tables["test"]["sources"].to_list()[1:]
    assert [place["document"] for place in last] == [tables["questions"]["document"][6]]
