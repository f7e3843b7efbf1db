"""Experts score two models' clinical answers in a real Label Studio, one of them with nothing but a keyboard."""

import json
import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from scipy.stats import pearsonr, spearmanr

from build_dataset.annotation.label_studio.screen import SCORE_KEYS as KEYS
from build_dataset.annotation.label_studio.tasks import QUESTION_ID, choice
from build_dataset.annotation.rubric import aspects
from build_dataset.pipeline.catalogue import stage
from build_dataset.pipeline.config import load
from build_dataset.pipeline.evaluate.judging import project
from build_dataset.pipeline.runtime.publish import Publication
from build_dataset.pipeline.runtime.runner import Runner
from build_dataset.schemas.release import ReleaseRow
from tests.annotation.conftest import serve
from tests.annotation.scripted_server import Reply, ScriptedServer
from tests.services.browser import CHROMIUM, browser
from tests.services.label_studio_browser import Desk
from tests.services.label_studio_server import ADMIN, LI, WANG, ZHANG, LabelStudioServer

__all__ = ["serve"]

CASES = Path(__file__).with_name("scoring_cases.json")
EVALUATE = stage("evaluate")
NAMES = [aspect.name for aspect in aspects()]
RUNS = ("doctor-model-one", "doctor-model-other")
_FITS = "[...document.querySelectorAll('.bd-read')].every(box => box.scrollHeight <= box.clientHeight + 1)"
# Radio buttons of equal scores share a name across scales, so that the browser forgets `checked`; the screen does not.
_CHOSEN = (
    "[...document.querySelectorAll('.bd-scores .bd-dim')].map(box =>"
    " box.querySelector('.ant-radio-wrapper-checked')?.innerText.trim()[0] ?? null)"
)
_GOOD, _POOR = (5, 4, 4, 5), (3, 2, 1, 2)


def _turns() -> Iterator[dict[str, Any]]:
    for case in json.loads(CASES.read_text(encoding="utf-8")):
        yield from case["QA_pairs"]


def write(question: str, earlier: int, body: dict[str, Any]) -> Reply:
    """A model that answers the cases' questions as the file says."""
    asked = body["messages"][-1]["content"]
    [turn] = [each for each in _turns() if asked.endswith(each["question"])]
    return Reply(content=turn["answers"][body["model"].rpartition("-")[2]])


def judge(question: str, earlier: int, body: dict[str, Any]) -> Reply:
    """A judge that is a little milder than the experts."""
    asked = body["messages"][-1]["content"]
    good = any(turn["answers"]["one"] in asked for turn in _turns())
    given = _GOOD if good else tuple(min(5, score + len(asked) % 2) for score in _POOR)
    return Reply(content=json.dumps(dict(zip(NAMES, given, strict=True))))


def scored(scores: tuple[int, ...]) -> list[dict[str, Any]]:
    return [choice(name, [str(score)]) for name, score in zip(NAMES, scores, strict=True)]


class Dataset:
    """An evaluation of two models on clinical cases, run by the real runner."""

    def __init__(self, folder: Path, url: str, writer: ScriptedServer, judging: ScriptedServer) -> None:
        (folder / "dataset.toml").write_text('[dataset]\nname = "expert-scoring"\n', encoding="utf-8")
        model = {"kind": "openai", "base_url": writer.url, "task": "clinical"}
        overrides = {
            "dataset.build": str(folder / "build"),
            "dataset.seed": 5,  # a case with a conversation and a long answer comes first
            "evaluate.models": [{**model, "model": name, "name": name} for name in RUNS],
            "evaluate.judge": {"model": "j", "base_url": judging.url},
            "evaluate.cases": str(CASES),
            "evaluate.scoring.overlap": 3,
            "review.url": url,
        }
        self.config = load(folder / "dataset.toml", overrides)
        self.build = folder / "build"
        export = Publication(self.build / "export")
        for name in ("train", "validation", "test"):
            export.table(name, ReleaseRow.to_frame([]))
        keys = ("stage", "fingerprint", "complete", "counts", "reasons", "facts")
        export.commit({key: {} for key in keys})

    def evaluate(self) -> None:
        Runner(self.config).run(["evaluate"])

    def push(self):
        context = Runner(self.config).context(EVALUATE)
        return project.push(self.config.evaluate, self.config.review, context)  # type: ignore[attr-defined]

    def pull(self):
        context = Runner(self.config).context(EVALUATE)
        return project.pull(self.config.evaluate, self.config.review, context)  # type: ignore[attr-defined]

    def status(self):
        return project.status(self.build, [])

    def table(self, name: str) -> pl.DataFrame:
        return pl.read_parquet(self.build / f"{name}.parquet")


@pytest.fixture
def writer(serve) -> ScriptedServer:
    return serve(write)


@pytest.fixture
def dataset(label_studio: LabelStudioServer, tmp_path: Path, serve, writer, monkeypatch) -> Dataset:
    monkeypatch.setenv("LABEL_STUDIO_API_KEY", ADMIN.token)
    made = Dataset(tmp_path, label_studio.url, writer, serve(judge))
    made.evaluate()
    return made


def score_all(label_studio: LabelStudioServer, number: int, account, answers: dict[str, str]) -> int:
    """Take answers from the queue as the screen does; those of the first model are found good."""
    expert = label_studio.as_expert(account)
    done = 0
    while (task := expert.next_task(number)) is not None:
        good = answers[task["data"][QUESTION_ID]] == RUNS[0]
        expert.submit(task["id"], scored(_GOOD if good else _POOR))
        done += 1
    return done


@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on this machine")
def test_three_experts_score_twenty_answers(label_studio, dataset, writer, tmp_path):
    first = dataset.push()
    assert (first.created, first.added, first.kind) == (True, 20, "scoring")
    again = dataset.push()
    assert (again.created, again.added, again.updated, again.unchanged) == (False, 0, 0, 20)
    sent = dict(dataset.table("reviews/scoring/sent").select("answer_id", "run").iter_rows())
    tasks = label_studio.as_expert(ADMIN).http.get("/api/tasks/", params={"project": first.project, "page_size": 100})
    assert not any(name in tasks.text for name in RUNS), "experts learn which model it is"
    order = [sent[task["data"][QUESTION_ID]] for task in tasks.json()["tasks"]]
    assert order not in (sorted(order), sorted(order, reverse=True))

    with ThreadPoolExecutor() as pool:
        work = partial(score_all, label_studio, first.project, answers=sent)
        assert list(pool.map(work, (ZHANG, LI))) == [20, 20]
    with browser() as page:
        seen = by_keyboard(Desk(page, label_studio.url), first.project, tmp_path)

    report = dataset.pull()
    assert (report.new, report.questions, dict(report.rejects)) == (41, 20, {})
    scores = dataset.table("reviews/answer_scores").filter(pl.col("expert") == WANG.email)
    assert dict(scores.select("aspect", "score").iter_rows()) == dict(zip(NAMES, seen, strict=True))
    assert scores["seconds"].null_count() == 0

    asked = sum(writer.asked.values())
    dataset.evaluate()
    assert sum(writer.asked.values()) == asked, "scores make no model answer again"
    agreement = dataset.table("evaluate/judge_agreement")
    assert agreement["aspect"].to_list().count("fluency") == 2
    judgements = dataset.table("evaluate/judgements")
    by_aspect = pl.col("aspect").is_in(NAMES)
    for row in agreement.filter((pl.col("judge") == "llm:j") & by_aspect).iter_rows(named=True):
        own, people = paired(judgements, row["aspect"])
        assert row["answers"] == 20
        assert row["pearson"] == pytest.approx(pearsonr(own, people).statistic)
        assert row["spearman"] == pytest.approx(spearmanr(own, people).statistic)
        assert 0.5 < row["alpha"] < 1
    found = dataset.status()
    assert (found.answers, dict(found.scored_by)) == (20, {2: 19, 3: 1})
    assert found.experts == {LI.email: 20, WANG.email: 1, ZHANG.email: 20}


def by_keyboard(desk: Desk, number: int, tmp_path: Path) -> tuple[int, ...]:
    """Score one answer: every key does what stands beside it; then four keys, and submit."""
    desk.log_in(WANG)
    desk.begin(number)
    folder = Path(os.environ.get("BUILD_DATASET_SCREENS", tmp_path))
    assert not desk.scrolls()
    assert desk.page.evaluate(_FITS), "a text of usual length scrolls"
    final = (4, 3, 4, 4)  # equal scores too; not the keys pressed last: a second press takes a score away
    for place, keys in enumerate(KEYS):
        for score in (*range(1, 6), final[place]):
            desk.press(keys[score - 1], pause=0.1)
            desk.wait(f"{_CHOSEN}[{place}] == '{score}'", seconds=10)
    desk.page.screenshot(folder / "scoring-screen.png")
    desk.submit()
    desk.wait(f"{_CHOSEN}.length == 4 && {_CHOSEN}.every(score => score === null)", seconds=10)
    return final


def paired(judgements: pl.DataFrame, aspect: str) -> tuple[list[float], list[float]]:
    """A model's scores and the means of the experts', answer by answer."""
    own = judgements.filter(pl.col("aspect") == aspect).with_columns(expert=pl.col("judge").str.starts_with("expert:"))
    means = own.group_by("run", "question_id", "expert").agg(pl.col("score").mean())
    both = means.pivot("expert", index=["run", "question_id"], values="score").sort("run", "question_id")
    return both["false"].to_list(), both["true"].to_list()
