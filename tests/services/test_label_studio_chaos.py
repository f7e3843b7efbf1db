"""People, servers and coordinators act at random: no review is lost, none counted twice, labels are an oracle's."""

from __future__ import annotations

import os
import random

import httpx
import polars as pl
import pytest

from annotation.label_studio import process
from annotation.params import ReviewParams
from pipeline.review import fetching, sending
from pipeline.review import stage as review
from schemas.dataset import DatasetParams
from schemas.errors import UserError
from schemas.taxonomy import dimensions
from tests.services.label_studio_server import ADMIN, LI, ZHANG
from tests.services.reviewing import PREFILLED, answer, question, tables, tasks
from tests.services.test_label_studio_kills import OwnServer

STEPS = int(os.environ.get("BUILD_DATASET_CHAOS", "60"))
"""250 took under eight minutes on a busy machine."""
QUESTIONS = 12
LABELS = dimensions()["competency"].zh_names()
WEIGHTS = {
    "answer": 40,
    "change": 10,
    "answer_twice": 5,
    "delete_answer": 6,
    "delete_task": 5,
    "delete_project": 2,
    "push": 10,
    "pull": 14,
    "wrong_token": 2,
    "restart": 2,
}

Key = tuple[str, str]
"""Question and expert."""


class World:
    """The server as the oracle knows it, and what the coordinator must have."""

    def __init__(self, server: OwnServer, context, monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
        self.server, self.context, self.monkeypatch = server, context, monkeypatch
        self.random = random.Random(seed)
        self.params = ReviewParams(url=server.server.url, bootstrap=100)
        self.found = tables(map(question, range(1, QUESTIONS + 1)))
        self.project: int | None = None
        self.there: dict[Key, list[tuple[int, str]]] = {}
        """Annotations on the server, oldest change first: id and competency."""
        self.coordinator: dict[Key, str] = {}

    def tasks(self) -> dict[str, int]:
        return tasks(self.server.facade(), self.project) if self.project is not None else {}

    def some(self) -> tuple[object, Key] | None:
        """An expert, and an annotation of theirs that is there."""
        keys = sorted(key for key, own in self.there.items() if own)
        if not keys:
            return None
        key = self.random.choice(keys)
        return self.server.facade().as_expert(ZHANG if key[1] == ZHANG.email else LI), key

    def answer(self) -> None:
        if not (ids := self.tasks()):
            return
        name = self.random.choice(sorted(ids))
        account = self.random.choice((ZHANG, LI))
        label = self.random.choice(LABELS)
        expert = self.server.facade().as_expert(account)
        made = expert.submit(ids[name], answer(PREFILLED | {"competency": label}))
        self.there.setdefault((name, account.email), []).append((made, label))

    def answer_twice(self) -> None:
        self.answer()
        if (found := self.some()) is not None:
            expert, key = found
            label = self.random.choice(LABELS)
            made = expert.submit(self.tasks()[key[0]], answer(PREFILLED | {"competency": label}))
            self.there[key].append((made, label))

    def change(self) -> None:
        if (found := self.some()) is not None:
            expert, key = found
            label = self.random.choice(LABELS)
            made, _ = self.there[key].pop(self.random.randrange(len(self.there[key])))
            expert.change(made, answer(PREFILLED | {"competency": label}))
            self.there[key].append((made, label))

    def delete_answer(self) -> None:
        if (found := self.some()) is not None:
            expert, key = found
            expert.delete(self.there[key].pop()[0])

    def delete_task(self) -> None:
        if ids := self.tasks():
            name = self.random.choice(sorted(ids))
            self.server.facade().as_expert(LI).delete_task(ids[name])
            self.there = {key: own for key, own in self.there.items() if key[0] != name}

    def delete_project(self) -> None:
        if self.project is not None:
            self.server.facade().as_expert(ZHANG).delete_project(self.project)
            self.project, self.there = None, {}

    def push(self) -> None:
        before = set(self.tasks())
        report = sending.push(self.found, self.params, self.context)
        self.project = report.project
        assert report.duplicates_removed == 0
        assert report.restored == sum(name not in before for name, _ in self.coordinator)
        http = self.server.facade().as_expert(ADMIN).http
        for name, task in self.tasks().items():
            if name not in before:
                for each in http.get(f"/api/tasks/{task}/").json()["annotations"]:
                    who = {ZHANG.email, LI.email} & {_email(http, each["completed_by"])}
                    [label] = [
                        item["value"]["choices"][0]
                        for item in each["result"]
                        if item["from_name"] == "competency"
                    ]
                    assert self.coordinator[name, who.pop()] == label
                    self.there.setdefault((name, _email(http, each["completed_by"])), []).append(
                        (each["id"], label)
                    )

    def pull(self) -> None:
        if self.project is None:
            with pytest.raises(UserError, match=r"is gone|run `build-dataset review push`"):
                fetching.pull(self.params, self.context)
            return
        fetching.pull(self.params, self.context)
        self.coordinator |= {key: own[-1][1] for key, own in self.there.items() if own}
        rows = pl.read_parquet(self.context.build / "reviews" / "pulled.parquet")
        own = rows.filter(pl.col("dimension") == "competency")
        found = {(row["question_id"], row["reviewer"]): row["label"] for row in own.iter_rows(named=True)}
        assert found == self.coordinator
        assert rows.height == len(found) * len(PREFILLED), "a review is there twice, or only in part"

    def wrong_token(self) -> None:
        self.monkeypatch.setenv("LABEL_STUDIO_API_KEY", "f" * 40)
        with pytest.raises(UserError):
            fetching.pull(self.params, self.context)
        self.monkeypatch.setenv("LABEL_STUDIO_API_KEY", ADMIN.token)

    def restart(self) -> None:
        self.server.kill()
        self.server.restart()


def _email(http: httpx.Client, author: object) -> str:
    number = author["id"] if isinstance(author, dict) else author
    return {user["id"]: user["email"] for user in http.get("/api/users/").json()}[number]


@pytest.fixture
def server(label_studio_template, tmp_path):
    own = OwnServer(*label_studio_template, tmp_path / "home")
    yield own
    process.stop(own.home)


@pytest.mark.timeout(60 + 10 * STEPS)
def test_whatever_people_and_servers_do_no_review_is_lost_and_none_counts_twice(server, context, monkeypatch):
    monkeypatch.setenv("LABEL_STUDIO_API_KEY", ADMIN.token)
    context.dataset = DatasetParams(name="chaos", raw=context.raw, build=context.build)
    world = World(server, context, monkeypatch, seed=20230605)
    world.push()
    for _ in range(STEPS):
        [what] = world.random.choices(list(WEIGHTS), weights=list(WEIGHTS.values()))
        getattr(world, what)()
    world.push()
    world.pull()
    pulled = pl.read_parquet(context.build / "reviews" / "pulled.parquet")
    labels = review.run({**world.found, "pulled": pulled}, world.params, context).tables["labels"]
    final = labels.filter(pl.col("dimension") == "competency")
    for row in final.iter_rows(named=True):
        votes = {label for (name, _), label in world.coordinator.items() if name == row["question_id"]}
        people = sum(name == row["question_id"] for name, _ in world.coordinator)
        expected = PREFILLED["competency"] if not votes else votes.pop() if len(votes) == 1 else None
        assert (row["label"], len(row["reviewers"])) == (expected, people)
