"""Client and server are killed at random moments: nothing is there twice, nothing is lost."""

import multiprocessing
import os
import random
import shutil
import signal
import threading
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path

import pytest

from build_dataset.annotation.label_studio.server import require_free
from build_dataset.annotation.params import ReviewParams
from build_dataset.pipeline.review import exchange
from build_dataset.schemas.dataset import DatasetParams
from build_dataset.schemas.errors import UserError
from tests.services.label_studio_server import (
    ADMIN,
    LI,
    ZHANG,
    LabelStudioServer,
    Server,
    free_port,
    launch_server,
    stop_server,
)
from tests.services.reviewing import answer, pulled, question, tables, tasks

KILLS = int(os.environ.get("BUILD_DATASET_KILLS", "4"))
"""Half of them while pushing, half while pulling; 20 take 6 minutes."""
QUESTIONS = 100
REVIEWED = QUESTIONS if KILLS > 10 else 40
"""Of them by two experts each: 80 requests take 5 s."""
RANDOM = random.Random(20230605)


class OwnServer:
    """A server that may be killed, unlike the one that all tests share."""

    def __init__(self, installation, template: Path, home: Path) -> None:
        shutil.copytree(template, home)
        self.installation, self.home, self.port = installation, home, free_port()
        self.server = launch_server(installation, home, self.port)

    def kill(self) -> None:
        os.killpg(self.server.pid, signal.SIGKILL)

    def restart(self) -> None:
        stop_server(self.home)
        deadline = time.monotonic() + 30
        while time.monotonic() < deadline:
            with suppress(UserError):
                require_free(self.port)
                break
            time.sleep(0.1)
        self.server: Server = launch_server(self.installation, self.home, self.port)

    def facade(self) -> LabelStudioServer:
        return LabelStudioServer(self.server.url, self.home)


@pytest.fixture
def server(label_studio_template, tmp_path):
    own = OwnServer(*label_studio_template, tmp_path / "home")
    yield own
    stop_server(own.home)


def _work(what: str, found, params: ReviewParams, context) -> None:
    try:
        if what == "push":
            exchange.push(found, params, context)
        else:
            exchange.pull(params, context, full=True)
    except UserError:
        os._exit(3)  # the server went away: told in one line, no traceback


def test_pushes_and_pulls_are_killed_at_random_moments(server, context, monkeypatch):
    monkeypatch.setenv("LABEL_STUDIO_API_KEY", ADMIN.token)
    context.dataset = DatasetParams(name="killed", raw=context.raw, build=context.build)
    params = ReviewParams(url=server.server.url, bootstrap=100, batch=10)
    found = tables(map(question, range(1, QUESTIONS + 1)))
    spawn = multiprocessing.get_context("spawn")

    def interrupted(what: str, victim: str) -> None:
        worker = spawn.Process(target=_work, args=(what, found, params, context))
        worker.start()
        time.sleep(1.0 + RANDOM.random() * 3.0)
        if victim == "client":
            worker.kill()
        else:
            server.kill()
        worker.join(120)
        assert worker.exitcode in (0, 3, -signal.SIGKILL), "a traceback, or it hangs"
        if victim == "server":
            server.restart()
        there = Counter(_question_ids(server.facade()))
        assert all(count == 1 for count in there.values()), "a question is there twice"

    for kill in range(KILLS // 2):
        interrupted("push", "client" if kill % 2 else "server")
    report = exchange.push(found, params, context)
    assert (report.duplicates_removed, report.others) == (0, 0)
    expected = set(found["questions"]["question_id"])
    assert Counter(_question_ids(server.facade())) == Counter(expected)

    reviewed = _answer(server.facade(), report.project)
    for kill in range(KILLS // 2):
        interrupted("pull", "client" if kill % 2 else "server")
    exchange.pull(params, context)
    rows = pulled(context)
    assert rows.height == 2 * 5 * REVIEWED
    keys = rows.select("question_id", "dimension", "reviewer")
    assert keys.n_unique() == rows.height
    assert set(rows["question_id"]) == reviewed


def _question_ids(server: LabelStudioServer) -> list[str]:
    admin = server.as_expert(ADMIN).http
    projects = admin.get("/api/projects/").json()["results"]
    found: list[str] = []
    for project in projects:
        reply = admin.get("/api/tasks/", params={"project": project["id"], "page_size": 1000}).json()
        found += [task["data"]["question_id"] for task in reply["tasks"]]
    return found


def _answer(server: LabelStudioServer, project: int) -> set[str]:
    """Two experts answer at the same time; the questions' ids."""
    chosen = dict(sorted(tasks(server, project).items())[:REVIEWED])
    ids = chosen.values()

    def work(account) -> None:
        expert = server.as_expert(account)
        for task_id in ids:
            expert.submit(task_id, answer())

    threads = [threading.Thread(target=work, args=(account,)) for account in (ZHANG, LI)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return set(chosen)
