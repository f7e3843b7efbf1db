"""The folder of what was pulled: whole, or as if nothing had been pulled."""

from dataclasses import replace
from types import SimpleNamespace

import polars as pl
import pytest

from build_dataset.annotation.label_studio.projects import ADJUDICATION, REVIEW
from build_dataset.annotation.label_studio.pull import Pulled
from build_dataset.annotation.label_studio.read import SeenAnnotation
from build_dataset.annotation.params import ReviewParams
from build_dataset.pipeline.review import exchange
from build_dataset.pipeline.review.folder import combine, owner_of, read_pulled, remember_shown, write_pulled
from build_dataset.pipeline.runtime.publish import read_table
from build_dataset.schemas.annotations import Annotation, Correction, ExpertReview
from build_dataset.schemas.errors import UserError
from build_dataset.schemas.questions import Rejection
from tests.annotation.records import annotation, correction, review


def pulled(reviews=(), corrections=()) -> Pulled:
    rejected = Rejection(item_id="q", stage="review", reason="skipped", detail="a skipped it", item="{}")
    seen = SeenAnnotation(question_id="q", annotation_id=1, updated_at="2026", skipped=False)
    tables = {"reviews": ExpertReview.to_frame(reviews), "corrections": Correction.to_frame(corrections)}
    tables |= {"rejects": Rejection.to_frame([rejected]), "annotations": SeenAnnotation.to_frame([seen])}
    return Pulled(**tables, project="http://x/projects/1", since="2026-01-01")


def same(first: Pulled, second: Pulled) -> bool:
    tables = ("reviews", "corrections", "rejects", "annotations")
    return (first.project, first.since) == (second.project, second.since) and all(
        getattr(first, name).equals(getattr(second, name)) for name in tables
    )


def test_what_was_pulled_is_read_back_as_it_was_written(tmp_path):
    build = tmp_path / "build [2024]"
    written = pulled([review("a")], [correction("a", "B")])
    write_pulled(build, REVIEW, written)
    assert same(read_pulled(build, REVIEW), written)
    assert same(read_pulled(build, ADJUDICATION), Pulled())


@pytest.mark.parametrize("name", ["reviews.parquet", "annotations.parquet", "state.json", "of another version"])
def test_a_damaged_folder_of_reviews_is_told_in_one_line(tmp_path, name):
    write_pulled(tmp_path, REVIEW, pulled([review("a")]))
    path = tmp_path / "reviews" / "review" / (name if "." in name else "reviews.parquet")
    if path.name == name:
        path.write_bytes(b"\x00damaged")
    else:
        read_table(path).drop("project").write_parquet(path)
    with pytest.raises(UserError, match="history/review in its place and run `build-dataset review pull`"):
        read_pulled(tmp_path, REVIEW)


def test_an_interrupted_first_pull_counts_as_none(tmp_path):
    write_pulled(tmp_path, REVIEW, pulled([review("a")]))
    (tmp_path / "reviews" / "review" / "state.json").unlink()
    assert same(read_pulled(tmp_path, REVIEW), Pulled())


def statuses(build) -> dict[tuple[str, str], str]:
    rows = pl.read_parquet(build / "reviews" / "corrections.parquet").to_dicts()
    return {(row["by"], row["after"]): row["status"] for row in rows}


def test_the_stages_get_the_reviews_of_all_projects_and_the_status_of_each_correction(tmp_path):
    write_pulled(tmp_path, REVIEW, pulled([review("a"), review("b")], [correction("a", "B"), correction("b", "C")]))
    combine(tmp_path, ReviewParams())
    assert statuses(tmp_path) == {("a", "B"): "proposed", ("b", "C"): "proposed"}
    ruling = pulled([review("w", project="adjudication")], [correction("w", "C", origin="adjudication", at=5)])
    write_pulled(tmp_path, ADJUDICATION, ruling)
    combine(tmp_path, ReviewParams())
    assert statuses(tmp_path) == {("a", "B"): "declined", ("b", "C"): "accepted", ("w", "C"): "accepted"}
    assert pl.read_parquet(tmp_path / "reviews" / "pulled.parquet").height == 3
    assert pl.read_parquet(tmp_path / "reviews" / "rejects.parquet").height == 2


def test_corrections_of_people_who_were_not_invited_do_not_count(tmp_path):
    write_pulled(tmp_path, REVIEW, pulled([review("a")], [correction("a", "B"), correction("x", "B")]))
    combine(tmp_path, ReviewParams(reviewers=["a", "b"]))
    assert statuses(tmp_path) == {("a", "B"): "proposed"}


def test_a_review_keeps_the_label_that_was_shown_when_it_was_made(tmp_path):
    def filled_in(label: str, annotator: str) -> None:
        remember_shown(tmp_path, Annotation.to_frame([annotation("difficulty", label, annotator)]))

    filled_in("难", "lexicon")
    filled_in("难", "lexicon")
    shown = pl.read_parquet(tmp_path / "reviews" / "shown.parquet")
    assert shown.height == 1, "the same labels again are no news"
    late = {"updated_at": "2999-01-01T00:00:00.000000Z"}
    write_pulled(tmp_path, REVIEW, pulled([review("a"), review("b", **late)]))
    filled_in("易", "llm:x")
    combine(tmp_path, ReviewParams())
    rows = pl.read_parquet(tmp_path / "reviews" / "pulled.parquet").select("reviewer", "shown", "shown_by")
    assert rows.rows() == [("a", None, None), ("b", "易", "llm:x")], "a was made before anything was sent"


def test_every_pull_that_brings_something_is_kept(tmp_path):
    for reviews in ([review("a")], [review("a")], [review("a"), review("b")]):
        write_pulled(tmp_path, REVIEW, pulled(reviews))
    kept = sorted((tmp_path / "reviews" / "history" / "review").iterdir())
    assert [pl.read_parquet(each / "reviews.parquet").height for each in kept] == [1, 2]


def test_people_keep_their_new_address_where_their_project_is_gone(context, monkeypatch):
    signed = SeenAnnotation(
        question_id="q", annotation_id=1, updated_at="2026", skipped=False, reviewer="former@x.org", answer="{}"
    )
    before = pulled([review("former@x.org")])
    before = replace(before, people={"1 then": "former@x.org"}, annotations=SeenAnnotation.to_frame([signed]))
    write_pulled(context.build, REVIEW, before)
    studio = SimpleNamespace(url="http://x", projects=lambda _: [], accounts={"1 then": "new@x.org"})
    monkeypatch.setattr(exchange, "connect", lambda _: studio)
    with pytest.raises(UserError, match="is gone"):
        exchange.pull(ReviewParams(), context)
    assert list(pl.read_parquet(context.build / "reviews" / "pulled.parquet")["reviewer"]) == ["new@x.org"]
    assert read_pulled(context.build, REVIEW).people == {"1 then": "new@x.org"}


def test_the_owner_is_drawn_once_and_again_where_the_file_is_empty(context):
    first = owner_of(context)
    assert owner_of(context) == first
    assert len(first.token) == 12
    path = context.build / "reviews" / "token"
    assert path.read_text() == first.token + "\n"
    path.write_text("")
    assert owner_of(context).token != first.token


def test_a_column_that_is_new_is_null_in_what_was_pulled_before(tmp_path):
    write_pulled(tmp_path, REVIEW, pulled([review("a", shown="易")]))
    path = tmp_path / "reviews" / "review" / "reviews.parquet"
    read_table(path).drop("shown").write_parquet(path)
    assert read_pulled(tmp_path, REVIEW).reviews["shown"].to_list() == [None]


def test_a_label_that_was_left_was_shown_also_where_a_later_one_was_sent_meanwhile(tmp_path):
    remember_shown(tmp_path, Annotation.to_frame([annotation("difficulty", "难", "lexicon")]))
    remember_shown(tmp_path, Annotation.to_frame([annotation("difficulty", "易", "llm:x")]))
    late = {"updated_at": "2999-01-01T00:00:00.000000Z"}
    left = review("a", "难", origin="prediction", **late)
    write_pulled(tmp_path, REVIEW, pulled([left, review("b", "难", origin="manual", **late)]))
    combine(tmp_path, ReviewParams())
    rows = pl.read_parquet(tmp_path / "reviews" / "pulled.parquet").select("reviewer", "shown", "shown_by")
    assert rows.rows() == [("a", "难", "lexicon"), ("b", "易", "llm:x")]
