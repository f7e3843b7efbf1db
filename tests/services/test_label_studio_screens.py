"""Doctors at real screens with nothing but a keyboard: review, adjudication, verification, and what comes of it."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pytest

from build_dataset.annotation.label_studio.tasks import QUESTION_ID
from build_dataset.annotation.params import ReviewParams
from build_dataset.pipeline.catalogue import stage
from build_dataset.pipeline.config import load
from build_dataset.pipeline.explain import explain
from build_dataset.pipeline.review import exchange
from build_dataset.pipeline.runtime.runner import Runner
from build_dataset.schemas.taxonomy import dimensions
from tests.services.browser import CHROMIUM, browser
from tests.services.label_studio_browser import ALT, FIELDS, SHIFT, Desk
from tests.services.label_studio_server import ADMIN, LI, ROOT, WANG, ZHANG, LabelStudioServer

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on this machine")
REVIEW = stage("review")
NOTE = "腹股沟疝属消化系统疾病 <外科>"
EDIT = f".bd-edit :is({FIELDS})"


class Dataset:
    """The sample exam under review, run by the real runner."""

    def __init__(self, build: Path, url: str) -> None:
        overrides = {"dataset.build": str(build), "dataset.name": "sample-screens", "review.url": url}
        self.config = load(ROOT / "dataset.toml", overrides)
        self.build = build

    @property
    def params(self) -> ReviewParams:
        return self.config.review  # type: ignore[attr-defined]

    def runner(self) -> Runner:
        return Runner(self.config)

    def tables(self) -> dict[str, pl.DataFrame]:
        """Return the stage's inputs, with labels in all dimensions as a model that is sure of them proposes them."""
        found = self.runner().tables(REVIEW)
        labels = found["annotations"]
        sure = {"annotator": pl.lit("llm:m"), "confidence": pl.lit(0.9), "estimate": pl.lit(False)}
        sample = labels.head(1).with_columns(**sure).drop("question_id", "label")
        every = found["questions"].select("question_id").join(sample, how="cross")
        proposed = []
        for name in dimensions():
            told = labels.filter(pl.col("dimension") == name, pl.lit(name != "difficulty")).select(
                "question_id", "label"
            )
            usual = "中等" if told.is_empty() else told["label"].mode().sort()[0]
            filled = every.with_columns(dimension=pl.lit(name)).join(told, on="question_id", how="left")
            proposed.append(filled.with_columns(pl.col("label").fill_null(usual)).select(labels.columns))
        return {**found, "annotations": pl.concat(proposed)}

    def push(self, count: int):
        return exchange.push(self.tables(), self.params, self.runner().context(REVIEW), count=count)

    def adjudicate(self):
        return exchange.adjudicate(self.tables(), self.params, self.runner().context(REVIEW))

    def verify(self):
        return exchange.verify(self.params, self.runner().context(REVIEW))

    def pull(self):
        reports = exchange.pull(self.params, self.runner().context(REVIEW))
        self.runner().run(["review"])
        return {report.kind: report for report in reports}

    def table(self, name: str) -> pl.DataFrame:
        return pl.read_parquet(self.build / f"{name}.parquet")


@pytest.fixture
def dataset(label_studio: LabelStudioServer, sample_build: Path, tmp_path: Path, monkeypatch) -> Dataset:
    monkeypatch.setenv("LABEL_STUDIO_API_KEY", ADMIN.token)
    shutil.copytree(sample_build, tmp_path / "build")
    return Dataset(tmp_path / "build", label_studio.url)


@pytest.fixture
def desk(label_studio: LabelStudioServer) -> Iterator[Desk]:
    with browser() as page:
        yield Desk(page, label_studio.url)


def look(desk: Desk, name: str, tmp_path: Path) -> None:
    """Take a picture; into the folder of ``BUILD_DATASET_SCREENS`` where the guide's pictures are made anew."""
    folder = Path(os.environ.get("BUILD_DATASET_SCREENS", tmp_path))
    desk.page.screenshot(folder / f"{name}.png")


def assert_all_is_seen(desk: Desk) -> None:
    """Nothing scrolls and nothing is cut, on a small screen neither."""
    for width, height in ((1280, 720), (1440, 900)):
        desk.resize(width, height)
        assert not desk.scrolls(), f"at {width} by {height}"
        assert desk.cut() == [], f"at {width} by {height}"


def shown(label_studio: LabelStudioServer, account, project: int) -> str:
    """The question that the server gives that person next."""
    task = label_studio.as_expert(account).next_task(project)
    assert task is not None
    return task["data"][QUESTION_ID]


def test_two_doctors_an_adjudicator_and_a_verifier_work_by_keyboard(label_studio, dataset, desk, tmp_path):
    project = dataset.push(count=1).project
    question_id = shown(label_studio, ZHANG, project)

    desk.log_in(ZHANG)
    desk.begin(project)
    assert_all_is_seen(desk)
    assert not desk.sees("Settings"), "experts change questions, never the project"
    look(desk, "reviewer-screen", tmp_path)
    assert desk.texts() == [""], "nothing but the note can be written before a flag is set"
    desk.submit()  # one chord: all labels are right

    desk.log_in(LI)
    desk.begin(project)
    desk.press("k", SHIFT)
    desk.press("c", ALT)
    assert "循环系统疾病" in desk.chosen(), "the code of a long list, with the key that is held"
    assert "C 内科" in desk.chosen()
    desk.press("0", SHIFT)
    desk.press("g", ALT)
    assert "0 不符合" in desk.chosen()
    assert "儿科" in desk.chosen()
    before = dataset.table("dedup/questions").filter(pl.col("question_id") == question_id).to_dicts()[0]
    desk.press("8")
    desk.tab_to(EDIT)
    desk.page.evaluate("document.activeElement.select()")
    other = "A" if before["answer"] != ["A"] else "B"
    desk.type(other)
    look(desk, "reviewer-screen-corrected", tmp_path)
    assert_all_is_seen(desk)
    desk.press("Tab")
    desk.press("5")
    desk.submit()

    report = dataset.pull()["review"]
    assert (report.new, report.questions, dict(report.rejects)) == (2, 1, {})
    reviews = dataset.table("reviews/pulled")
    assert set(reviews.filter(pl.col("reviewer") == ZHANG.email)["origin"]) == {"prediction"}
    assert reviews["seconds"].null_count() == 0
    [proposed] = dataset.table("reviews/corrections").to_dicts()
    assert (proposed["field"], proposed["after"], proposed["by"]) == ("answer", other, LI.email)
    assert proposed["status"] == "proposed"
    [waiting] = dataset.table("review/review").to_dicts()
    assert waiting["item_id"] == question_id

    cases = dataset.adjudicate()
    assert (cases.added, cases.kind) == (1, "adjudication")
    desk.log_in(WANG)
    desk.begin(cases.project)
    said = desk.page.evaluate("document.querySelector('.bd-said').innerText")
    assert ZHANG.email not in said
    assert LI.email not in said
    assert f"{before['answer'][0]} → {other}" in said
    desk.press("8")
    assert desk.texts() == [other, ""], "what was proposed is filled in"
    desk.press("m", SHIFT)
    desk.press("d", ALT)
    desk.press("3")
    desk.tab_to(f".bd-flags :is({FIELDS})", back=True)
    desk.type(NOTE)
    desk.press("Tab")
    look(desk, "adjudicator-screen", tmp_path)
    assert_all_is_seen(desk)
    desk.submit()

    reports = dataset.pull()
    assert reports["adjudication"].new == 1
    labels = dataset.table("review/labels").filter(pl.col("question_id") == question_id)
    assert set(labels["status"]) <= {"agreed", "adjudicated"}
    assert dataset.table("review/review").is_empty()
    assert set(dataset.table("reviews/corrections")["status"]) == {"accepted"}
    assert dataset.adjudicate().withdrawn == 0, "a case that was ruled on stays as it is"

    assert dataset.push(count=1).rulings_shown, "what was ruled otherwise is shown before the next question"
    assert not dataset.push(count=0).rulings_shown, "once"
    desk.log_in(LI)
    desk.begin(project)
    assert desk.sees(NOTE)
    look(desk, "reviewer-rulings", tmp_path)
    desk.press("Escape")
    assert not desk.sees(NOTE), "one key, and the question is there"

    waiting = sum(dataset.table(f"{stage}/review").height for stage in ("parse", "clean", "dedup"))
    sent, without = dataset.verify()
    assert waiting > 0
    assert sent.added + without >= waiting, "a conflict of several questions is sent once for each of them"
    assert without == 0
    item = shown(label_studio, ZHANG, sent.project)
    desk.log_in(ZHANG)
    desk.begin(sent.project)
    assert_all_is_seen(desk)
    text, _key, _explanation, _note = desk.texts()
    assert text
    assert desk.page.evaluate("document.querySelector('.bd-marked').innerText").strip()
    desk.tab_to(EDIT)
    desk.tab_to(EDIT)
    desk.page.evaluate("document.activeElement.select()")
    desk.type("A")
    desk.press("Tab")  # to the explanation
    desk.press("Tab")
    desk.press("1")
    look(desk, "verifier-screen", tmp_path)
    desk.submit()
    assert dataset.pull()["verification"].new == 1

    dataset.runner().run(["clean", "dedup"])
    applied = dataset.table("clean/corrections")
    assert question_id in set(applied["question_id"])
    cleaned = dataset.table("clean/questions").filter(pl.col("question_id").is_in([question_id, item]))
    assert dict(cleaned.select("question_id", "answer").iter_rows()) == {question_id: [other], item: ["A"]}
    story = explain(dataset.build, question_id)
    assert any(event.outcome == "corrected" and LI.email in (event.detail or "") for event in story.events)
