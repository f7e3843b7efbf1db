"""People, servers and coordinators act at random: no review is lost, none counted twice, labels are an oracle's.

Two experts and an adjudicator answer, change, answer twice and delete answers, tasks and whole projects. A
coordinator pushes, adjudicates and pulls, renames projects and the dataset, uses expired tokens, and is killed at
work. People change their addresses. The server is killed and started again.
"""

import logging
import multiprocessing
import os
import random
import signal
import sqlite3
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from typing import Any

import httpx
import polars as pl
import pytest

from build_dataset.annotation.label_studio.tasks import QUESTION_ID
from build_dataset.annotation.params import ReviewParams
from build_dataset.pipeline.review import exchange, stage as review
from build_dataset.pipeline.review.folder import owner_of
from build_dataset.schemas.annotations import Correction
from build_dataset.schemas.dataset import DatasetParams
from build_dataset.schemas.errors import UserError
from build_dataset.schemas.taxonomy import dimensions
from tests.services.label_studio_server import ADMIN, LI, WANG, ZHANG, Expert, stop_server
from tests.services.reviewing import PREFILLED, answer, question, tables, tasks
from tests.services.test_label_studio_kills import OwnServer

STEPS = int(os.environ.get("BUILD_DATASET_CHAOS", "60"))
SEED = int(os.environ.get("BUILD_DATASET_CHAOS_SEED", "20230605"))
QUESTIONS = 12
LABELS = dimensions()["competency"].zh_names()[:3]
"""Few, so that experts agree now and then."""
ACCOUNTS = {"zhang": ZHANG, "li": LI, "wang": WANG}
EXPERTS = ("zhang", "li")
WEIGHTS = {
    "answer": 36,
    "rule": 12,
    "change": 10,
    "answer_twice": 5,
    "delete_answer": 5,
    "delete_task": 5,
    "delete_project": 2,
    "push": 8,
    "adjudicate": 7,
    "pull": 14,
    "push_while_experts_save": 3,
    "relabel": 2,
    "rename_project": 2,
    "rename_dataset": 1,
    "rename_person": 2,
    "expired_token": 2,
    "restart": 1,
    "kill_client": 3,
    "kill_server": 2,
}

Key = tuple[str, str]
"""Question and person."""


@dataclass
class Side:
    """The project for the review, or the one for adjudication."""

    name: str
    project: int | None = None
    there: dict[Key, list[tuple[int, str]]] = field(default_factory=dict)
    """Annotations on the server, oldest change first: id and competency."""
    pulled: dict[Key, str] = field(default_factory=dict)
    """Return the reviews that must have been pulled."""
    answered: dict[Key, list[tuple[str, float]]] = field(default_factory=dict)
    """Labels that people gave, and when."""


class World:
    """The server as the oracle knows it, and what the coordinator must have."""

    def __init__(self, server: OwnServer, context, monkeypatch: pytest.MonkeyPatch) -> None:
        self.server, self.context, self.monkeypatch = server, context, monkeypatch
        self.random = random.Random(SEED)
        self.emails = {who: account.email for who, account in ACCOUNTS.items()}
        self.prefilled = {question(n).question_id: PREFILLED["competency"] for n in range(1, QUESTIONS + 1)}
        self.review, self.adjudication = Side("review"), Side("adjudication")
        self.names = 0
        self.done: Counter[str] = Counter()

    @property
    def params(self) -> ReviewParams:
        adjudicators = [self.emails["wang"]]
        return ReviewParams(url=self.server.server.url, bootstrap=100, adjudicators=adjudicators, timeout=60)

    @property
    def tables(self) -> dict[str, pl.DataFrame]:
        found = tables(map(question, range(1, QUESTIONS + 1)))
        own = pl.col("question_id").replace_strict(self.prefilled, return_dtype=pl.String)
        label = pl.when(pl.col("dimension") == "competency").then(own).otherwise("label")
        return {**found, "annotations": found["annotations"].with_columns(label=label)}

    def settling(self) -> dict[str, pl.DataFrame]:
        path = self.context.build / "reviews" / "pulled.parquet"
        pulled = {"pulled": pl.read_parquet(path)} if path.exists() else {}
        return {**self.tables, **pulled, "corrections": Correction.to_frame([])}

    def step(self, what: str) -> None:
        self.done[what] += 1
        logging.getLogger(__name__).info("%s %s", self.done.total(), what)
        getattr(self, what)()

    def http(self) -> httpx.Client:
        return self.server.facade().as_expert(ADMIN).http

    def expert(self, who: str) -> Expert:
        return self.server.facade().as_expert(ACCOUNTS[who])

    def tasks(self, side: Side) -> dict[str, int]:
        return tasks(self.server.facade(), side.project) if side.project is not None else {}

    def some(self) -> tuple[Side, Key] | None:
        """An annotation that is there."""
        keys = [(side, key) for side in (self.review, self.adjudication) for key in sorted(side.there)]
        keys = [(side, key) for side, key in keys if side.there[key]]
        return self.random.choice(keys) if keys else None

    def side(self) -> Side:
        return self.random.choice((self.review, self.review, self.adjudication))

    # People

    def submit(self, side: Side, name: str, task: int, who: str) -> None:
        label = self.random.choice(LABELS)
        made = self.expert(who).submit(task, answer(PREFILLED | {"competency": label}))
        side.there.setdefault((name, who), []).append((made, label))
        side.answered.setdefault((name, who), []).append((label, time.time()))

    def answer(self) -> None:
        if ids := self.tasks(self.review):
            name = self.random.choice(sorted(ids))
            self.submit(self.review, name, ids[name], self.random.choice(EXPERTS))

    def rule(self) -> None:
        if ids := self.tasks(self.adjudication):
            name = self.random.choice(sorted(ids))
            self.submit(self.adjudication, name, ids[name], "wang")

    def answer_twice(self) -> None:
        self.answer()
        if (found := self.some()) is not None:
            side, (name, who) = found
            self.submit(side, name, self.tasks(side)[name], who)

    def change(self) -> None:
        if (found := self.some()) is not None:
            side, key = found
            label = self.random.choice(LABELS)
            made, _ = side.there[key].pop(self.random.randrange(len(side.there[key])))
            self.expert(key[1]).change(made, answer(PREFILLED | {"competency": label}))
            side.there[key].append((made, label))
            side.answered.setdefault(key, []).append((label, time.time()))

    def delete_answer(self) -> None:
        if (found := self.some()) is not None:
            side, key = found
            self.expert(key[1]).delete(side.there[key].pop()[0])

    def delete_task(self) -> None:
        side = self.side()
        if ids := self.tasks(side):
            name = self.random.choice(sorted(ids))
            self.expert("li").delete_task(ids[name])
            side.there = {key: own for key, own in side.there.items() if key[0] != name}

    def delete_project(self) -> None:
        side = self.side()
        if side.project is not None:
            self.expert("zhang").delete_project(side.project)
            side.project, side.there = None, {}

    def rename_project(self) -> None:
        side = self.side()
        if side.project is not None:
            self.names += 1
            renamed = self.http().patch(f"/api/projects/{side.project}/", json={"title": f"我的项目 {self.names}"})
            renamed.raise_for_status()

    def rename_person(self) -> None:
        """Administrators change addresses in Django's admin pages; the REST API refuses it."""
        who = self.random.choice(sorted(self.emails))
        self.names += 1
        new = f"{who}{self.names}@example.org"
        with closing(sqlite3.connect(next(self.server.home.glob("*.sqlite3")), timeout=60)) as database:
            database.execute("update htx_user set email = ? where email = ?", (new, self.emails[who]))
            database.commit()
        self.emails[who] = new

    # The coordinator

    def look(self) -> None:
        """See which projects are there, and which answers went back into them with their questions."""
        token = owner_of(self.context).token
        projects = self.http().get("/api/projects/", params={"page_size": 100}).json()["results"]
        for side in (self.review, self.adjudication):
            own = [
                (each["total_annotations_number"], each["task_number"], -each["id"])
                for each in projects
                if f"[build-dataset {side.name}: " in each["description"] and token in each["description"]
            ]
            side.project = -max(own)[2] if own else None

    def see_restored(self, side: Side, before: Mapping[str, int]) -> int:
        """Add the answers of tasks that are new on the server, which must be those that were pulled."""
        count = 0
        users = {user["id"]: user["email"] for user in self.http().get("/api/users/").json()}
        people = {email: who for who, email in self.emails.items()}
        for name, task in self.tasks(side).items():
            if before.get(name) != task:
                side.there = {key: own for key, own in side.there.items() if key[0] != name}
                for who, own in self.annotations(task, users, people).items():
                    [(_, label)] = own
                    assert side.pulled[name, who] == label
                    side.there[name, who] = own
                    count += 1
        return count

    def annotations(self, task: int, users, people) -> dict[str, list[tuple[int, str]]]:
        found: dict[str, list[tuple[int, str]]] = {}
        own = self.http().get(f"/api/tasks/{task}/").json()["annotations"]
        for each in sorted(own, key=lambda each: (each["updated_at"], each["id"])):
            author = each["completed_by"]
            who = people[users[author["id"] if isinstance(author, dict) else author]]
            labels = [item for item in each["result"] if item["from_name"] == "competency"]
            found.setdefault(who, []).append((each["id"], labels[0]["value"]["choices"][0]))
        return found

    def sent(self, side: Side, work: Callable[[], Any]) -> None:
        before = self.tasks(side)
        report = work()
        self.look()
        assert side.project == report.project
        assert report.duplicates_removed == 0
        assert self.see_restored(side, before) == report.restored

    def push(self) -> None:
        missing = {name for name, _ in self.review.pulled} - self.tasks(self.review).keys()
        self.sent(self.review, partial(exchange.push, self.tables, self.params, self.context))
        there = self.tasks(self.review)
        assert there.keys() == self.prefilled.keys()
        lost = [key for key in self.review.pulled if key[0] in missing and key not in self.review.there]
        assert not lost, "pulled answers did not go back"
        self.check_proposals()

    def check_proposals(self) -> None:
        found = self.http().get("/api/tasks/", params={"project": self.review.project, "fields": "all"}).json()
        version = self.http().get(f"/api/projects/{self.review.project}/").json()["model_version"]
        for task in found["tasks"]:
            own = [each for each in task["predictions"] if each["model_version"] == version]
            labels = {item["from_name"]: item["value"]["choices"] for each in own for item in each["result"]}
            assert len(own) == 1
            assert labels["competency"] == [self.prefilled[task["data"][QUESTION_ID]]]

    def adjudicate(self) -> None:
        expected = self.disputed()
        if not expected and self.adjudication.project is None:
            with pytest.raises(UserError, match="nothing to send"):
                exchange.adjudicate(self.settling(), self.params, self.context)
            return
        work = partial(exchange.adjudicate, self.settling(), self.params, self.context)
        self.sent(self.adjudication, work)
        there = self.tasks(self.adjudication).keys()
        answered = {name for (name, _), own in self.adjudication.there.items() if own}
        assert expected <= there
        assert there - answered <= expected, "what needs no ruling is still there"

    def disputed(self) -> set[str]:
        said: dict[str, set[str]] = {}
        for (name, _), label in self.review.pulled.items():
            said.setdefault(name, set()).add(label)
        return {name for name, labels in said.items() if len(labels) > 1} - {
            name for name, _ in self.adjudication.pulled
        }

    def pull(self) -> None:
        work = partial(exchange.pull, self.params, self.context)
        for side in (self.review, self.adjudication):
            side.pulled |= {key: own[-1][1] for key, own in side.there.items() if own}
        if self.review.project is None:
            with pytest.raises(UserError, match=r"is gone|run `build-dataset review push`"):
                work()
        else:
            work()
        self.check_pulled()

    def check_pulled(self) -> None:
        path = self.context.build / "reviews" / "pulled.parquet"
        rows = pl.read_parquet(path).filter(pl.col("dimension") == "competency") if path.exists() else None
        people = {email: who for who, email in self.emails.items()}
        for side in (self.review, self.adjudication):
            own = rows.filter(pl.col("project") == side.name).iter_rows(named=True) if rows is not None else ()
            found = Counter((row["question_id"], people[row["reviewer"]], row["label"]) for row in own)
            assert found == Counter((*key, label) for key, label in side.pulled.items())
            self.check_times(side, rows, people)

    def check_times(self, side: Side, rows: pl.DataFrame | None, people: Mapping[str, str]) -> None:
        """An answer bears a time at which its author gave it, in the order in which they were given."""
        own = rows.filter(pl.col("project") == side.name).iter_rows(named=True) if rows is not None else ()
        for row in own:
            key, moment = (row["question_id"], people[row["reviewer"]]), row["updated_at"]
            times = [when for label, when in side.answered.get(key, ()) if label == row["label"]]
            nearest = min((abs(datetime.fromisoformat(moment).timestamp() - when) for when in times), default=0.0)
            assert nearest < 15, f"{key} {row['label']} bears {moment}, which is no time at which it was given"

    def relabel(self) -> None:
        for name in self.random.sample(sorted(self.prefilled), self.random.choice((1, QUESTIONS))):
            self.prefilled[name] = self.random.choice(LABELS)

    def rename_dataset(self) -> None:
        self.names += 1
        self.context.dataset = self.context.dataset.model_copy(update={"name": f"chaos-{self.names}"})
        self.pull()

    def expired_token(self) -> None:
        self.monkeypatch.setenv("LABEL_STUDIO_API_KEY", "f" * 40)
        for work in (exchange.pull, partial(exchange.push, self.tables)):
            with pytest.raises(UserError, match="refuses the token"):
                work(self.params, self.context)
        self.monkeypatch.setenv("LABEL_STUDIO_API_KEY", ADMIN.token)

    def push_while_experts_save(self) -> None:
        ids = self.tasks(self.review)
        chosen = [self.random.choice(sorted(ids)) for _ in range(4)] if ids else []

        def save(who: str) -> None:
            for place, name in enumerate(chosen):
                saved = answer(PREFILLED | {"competency": LABELS[place % len(LABELS)]})
                reply = self.expert(who).http.post(f"/api/tasks/{ids[name]}/annotations/", json={"result": saved})
                assert reply.status_code < 300 or reply.status_code >= 500

        savers = [threading.Thread(target=save, args=(who,)) for who in EXPERTS]
        for saver in savers:
            saver.start()
        self.relabel()
        exchange.push(self.tables, self.params, self.context)
        for saver in savers:
            saver.join()
        # What was saved is what the server says: replies of a locked database are lost.
        users = {user["id"]: user["email"] for user in self.http().get("/api/users/").json()}
        people = {email: who for who, email in self.emails.items()}
        for name in set(chosen):
            for who, own in self.annotations(ids[name], users, people).items():
                self.review.there[name, who] = own
                self.review.answered.setdefault((name, who), []).extend((label, time.time()) for _, label in own)
        before = ids
        self.look()
        self.see_restored(self.review, before)
        self.push()

    # Kills

    def restart(self) -> None:
        self.server.kill()
        self.server.restart()

    def kill_client(self) -> None:
        self.interrupted("client")

    def kill_server(self) -> None:
        self.interrupted("server")
        self.server.restart()
        self.after_interruption()

    def interrupted(self, victim: str) -> None:
        what = self.random.choice(("push", "pull", "adjudicate"))
        self.before = {side.name: self.tasks(side) for side in (self.review, self.adjudication)}
        args = (what, self.settling(), self.params, self.context)
        worker = multiprocessing.get_context("spawn").Process(target=_work, args=args)
        worker.start()
        time.sleep(1.0 + self.random.random() * 4.0)
        if victim == "client":
            worker.kill()
        else:
            self.server.kill()
        worker.join(120)
        assert worker.exitcode in (0, 3, -signal.SIGKILL), "a traceback, or it hangs"
        self.done[f"{what}: {victim} killed" if worker.exitcode else f"{what}: too late to kill"] += 1
        if victim == "client":
            self.after_interruption()

    def after_interruption(self) -> None:
        self.look()
        for side in (self.review, self.adjudication):
            self.see_restored(side, self.before[side.name])
        self.pull()

    def check_labels(self) -> None:
        labels = review.run(self.settling(), self.params, self.context).tables["labels"]
        for row in labels.filter(pl.col("dimension") == "competency").iter_rows(named=True):
            name = row["question_id"]
            votes = [label for (own, _), label in self.review.pulled.items() if own == name]
            ruling = self.adjudication.pulled.get((name, "wang"))
            settled = votes[0] if len(set(votes)) == 1 else None
            expected = ruling or (settled if votes else self.prefilled[name])
            assert (row["label"], len(row["reviewers"])) == (expected, len(votes) + (ruling is not None))


def _work(what: str, found: dict[str, pl.DataFrame], params: ReviewParams, context) -> None:
    work = {"push": exchange.push, "adjudicate": exchange.adjudicate}
    try:
        if what == "pull":
            exchange.pull(params, context, full=True)
        else:
            work[what](found, params, context)
    except UserError:
        os._exit(3)  # the server went away: told in one line, no traceback


@pytest.fixture
def server(label_studio_template, tmp_path):
    own = OwnServer(*label_studio_template, tmp_path / "home")
    yield own
    stop_server(own.home)


@pytest.mark.timeout(120 + 20 * STEPS)
def test_whatever_people_and_servers_do_no_review_is_lost_and_none_counts_twice(server, context, monkeypatch):
    monkeypatch.setenv("LABEL_STUDIO_API_KEY", ADMIN.token)
    context.dataset = DatasetParams(name="chaos", raw=context.raw, build=context.build)
    world = World(server, context, monkeypatch)
    world.push()
    for place in range(STEPS):
        [what] = world.random.choices(list(WEIGHTS), weights=list(WEIGHTS.values()))
        world.step(what)
        if place % 10 == 9:
            world.pull()
            world.check_labels()
    world.push()
    world.pull()
    world.check_labels()
    assert set(WEIGHTS) <= {*world.done} or STEPS < 500, "not everything happened"
