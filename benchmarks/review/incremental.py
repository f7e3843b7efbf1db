"""Measure how long a pull of one change takes among 10,000 questions with 20,000 annotations, in a real Label Studio.

``python -m benchmarks.review.incremental [QUESTIONS] [--without-labels] [--postgres]`` makes a server of its own in a
temporary folder and prints a table. Label Studio must be installed (``make label-studio``); for the last, PostgreSQL.
"""

from __future__ import annotations

import json
import os
import resource
import sqlite3
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import httpx
import polars as pl
from rich.console import Console

from build_dataset.annotation.label_studio.server import Account, Installation, create_accounts
from build_dataset.annotation.label_studio.tasks import choice
from build_dataset.annotation.params import ReviewParams
from build_dataset.pipeline.catalogue import stage
from build_dataset.pipeline.config import load
from build_dataset.pipeline.review import exchange
from build_dataset.pipeline.review.stage import settle_questions
from build_dataset.pipeline.runtime.runner import Runner
from build_dataset.pipeline.stage import Context
from build_dataset.schemas.annotations import Annotation, Correction
from build_dataset.schemas.identity import content_hash
from build_dataset.schemas.questions import Option, Question, QuestionType
from build_dataset.schemas.taxonomy import dimensions
from tests.services.label_studio_server import Server, free_port, launch_server, stop_server
from tests.services.remote import Postgres, RemoteInstallation, postgres, settings_of_guide

ADMIN = Account("admin@example.org", "admin-password", "a" * 40, admin=True)
EXPERTS = (Account("zhang@example.org", "p" * 12, "b" * 40), Account("li@example.org", "p" * 12, "c" * 40))
FIRST = {name: dimension.zh_names()[0] for name, dimension in dimensions().items()}
T = TypeVar("T")
Timed = Callable[[str, Callable[[], Any]], Any]
FIRST_ANNOTATOR = "bench:first"
KEY = "LABEL_STUDIO_API_KEY"


def context_in(folder: Path) -> Context:
    """Return the context of a stage, in a build of its own, without bars."""
    (folder / "raw").mkdir()
    (folder / "dataset.toml").write_text('[dataset]\nname = "bench"\nraw = "raw"\nbuild = "build"\n')
    return Runner(load(folder / "dataset.toml", {}), Console(quiet=True)).context(stage("review"))


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    installation = Installation(Path(".venv-label-studio"))
    if not installation.ready():
        sys.exit("Label Studio is not installed: run `make label-studio`")
    os.environ[KEY] = ADMIN.token
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        home, database = folder / "home", None
        if "--postgres" in sys.argv:
            database = stack.enter_context(postgres())
            installation = RemoteInstallation(installation.venv, settings_of_guide("localhost", database.port))
        create_accounts(installation, home, [ADMIN, *EXPERTS])
        server = launch_server(installation, home, free_port())
        stack.callback(stop_server, home)
        _measure(count, server, home, context_in(folder), database)


def _measure(count: int, server: Server, home: Path, context: Context, database: Postgres | None) -> None:
    timed = partial(_timed, [server.pid] + ([database.pid] if database else []))
    params = ReviewParams(url=server.url, batch=1000, bootstrap=1000)
    found = _tables(count, FIRST["competency"])
    print(f"| {count:,} questions | wall s | CPU s of ours | of the server |\n| --- | ---: | ---: | ---: |")
    report = timed("push", lambda: exchange.push(found, params, context))
    again = timed("push again: nothing to do", lambda: exchange.push(found, params, context))
    assert (again.added, again.updated) == (0, 0)
    if "--without-labels" not in sys.argv:
        _measure_labels(timed, count, params, context)
    _annotate(partial(_sqlite, home) if database is None else partial(_postgres, database), database is None)
    timed("first pull, 20,000 annotations" if count == 10_000 else "first pull", lambda: exchange.pull(params, context))
    time.sleep(11)  # what is younger than the overlap of two pulls is read twice
    for name in ("one change", "one change, again"):
        annotation = _change(server.url, report.project)
        [pulled] = timed(f"pull of {name}", lambda: exchange.pull(params, context))
        assert (pulled.full, pulled.new, pulled.deleted) == (False, 0, 0), (pulled, annotation)
        time.sleep(11)
    [nothing] = timed("pull of nothing", lambda: exchange.pull(params, context))
    assert nothing.changed == 0
    reviews = pl.read_parquet(context.build / "reviews" / "pulled.parquet")
    assert reviews.height == 2 * 5 * count
    tables = {**found, "pulled": reviews, "corrections": Correction.to_frame([])}
    timed("settling all labels, for comparison", lambda: settle_questions(tables, params))


def _measure_labels(timed: Timed, count: int, params: ReviewParams, context: Context) -> None:
    """Pushes after questions got other labels than those that were sent."""
    other = dimensions()["competency"].zh_names()[1]
    for name, annotator, changed in (
        ("the same annotator changed 1 in 100", FIRST_ANNOTATOR, count // 100),
        ("the same annotator changed all", FIRST_ANNOTATOR, count),
        ("another annotator", "bench:another", count),
        ("going back to the first labels", FIRST_ANNOTATOR, 0),
    ):
        tables = _tables(count, other, annotator, up_to=changed)
        report = timed(f"push after {name}", lambda tables=tables: exchange.push(tables, params, context))
        assert report.added == 0


def _timed(servers: Sequence[int], name: str, work: Callable[[], T]) -> T:
    wall, cpu, theirs = time.perf_counter(), _cpu(), _cpu_of(servers)
    result = work()
    used = (time.perf_counter() - wall, _cpu() - cpu, _cpu_of(servers) - theirs)
    print(f"| {name} | {used[0]:.2f} | {used[1]:.2f} | {used[2]:.2f} |", flush=True)
    return result


def _cpu_of(servers: Sequence[int]) -> float:
    """CPU seconds of processes and their children, those that ended included (Linux alone)."""
    ticks = 0
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        own = int(path.parent.name)
        if own in servers:
            ticks += sum(map(int, fields[11:15]))
        elif int(fields[1]) in servers:
            ticks += sum(map(int, fields[11:13]))
    return ticks / os.sysconf("SC_CLK_TCK")


def _cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def _tables(
    count: int, competency: str, annotator: str = FIRST_ANNOTATOR, *, up_to: int | None = None
) -> dict[str, pl.DataFrame]:
    """Labels of which those of the first ``up_to`` questions have that competency."""
    changed = FIRST | {"competency": competency}
    last = count if up_to is None else up_to
    return made(count, annotator, lambda number: changed if number < last else FIRST)


def made(count: int, annotator: str, labels: Callable[[int], Mapping[str, str]]) -> dict[str, pl.DataFrame]:
    """Questions that ask nothing, and the labels that an annotator gives them by number."""
    questions = [
        Question(
            question_id=f"0a1b2c3d-1-{number:05}",
            document="papers/bench.pdf",
            section=1,
            number=number,
            question_type=QuestionType.A1,
            stem=f"第{number}题：下列哪一项最可能？",
            options=[Option(label=letter, text=f"选项{letter}{number}") for letter in "ABCDE"],
            answer=["A"],
            content_hash=content_hash(f"{number}", []),
        )
        for number in range(count)
    ]
    annotations = [
        Annotation(
            question_id=question.question_id,
            dimension=name,
            label=label,
            annotator=annotator,
            confidence=0.5,
            estimate=False,
        )
        for number, question in enumerate(questions)
        for name, label in labels(number).items()
    ]
    return {"questions": Question.to_frame(questions), "annotations": Annotation.to_frame(annotations)}


def _annotate(execute: Callable[[str], object], is_sqlite: bool) -> None:
    """Two annotations for every task, written into the database: 20,000 requests would take ten minutes."""
    result = json.dumps([choice(name, [label]) | {"origin": "prediction"} for name, label in FIRST.items()])
    now = time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime())
    for expert in EXPERTS:
        person = f"(select id from htx_user where email = '{expert.email}')"
        values = {
            "result": f"'{result}'",
            "was_cancelled": "false",
            "ground_truth": "false",
            "created_at": f"'{now}'",
            "updated_at": f"'{now}'",
            "task_id": "id",
            "project_id": "project_id",
            "completed_by_id": person,
            "updated_by_id": person,
            "bulk_created": "false",
            "result_count": "5",
            "unique_id": "lower(hex(randomblob(16)))" if is_sqlite else "gen_random_uuid()",
        }
        if not is_sqlite:
            values |= {name: f"{values[name]}::timestamptz" for name in ("created_at", "updated_at")}
            values["result"] += "::jsonb"
        execute(f"insert into task_completion ({', '.join(values)}) select {', '.join(values.values())} from task")
    # As people work, over hours: what is as young as the latest change is read again by the next pull.
    earlier = f"timestamptz '{now}Z' - interval '1 second' * (60 + id % 36000)"
    if is_sqlite:
        earlier = f"datetime('{now}', '-' || (60 + id % 36000) || ' seconds')"
    execute(f"update task set total_annotations = 2, is_labeled = true, updated_at = {earlier}")


def _sqlite(home: Path, statement: str) -> None:
    with sqlite3.connect(next(home.glob("*.sqlite3")), timeout=60) as database:
        database.execute(statement)


def _postgres(database: Postgres, statement: str) -> None:
    database.run("psql", "--quiet", "--set=ON_ERROR_STOP=1", "-c", statement, "label_studio")


def _change(url: str, project: int) -> int:
    http = httpx.Client(base_url=url, headers={"Authorization": f"Token {EXPERTS[0].token}"}, timeout=60)
    task = http.get("/api/tasks/", params={"project": project, "page_size": 1, "fields": "all"}).json()["tasks"][0]
    own = task["annotations"][0]["id"]
    labels = FIRST | {"difficulty": dimensions()["difficulty"].zh_names()[int(time.time()) % 5]}
    result = [choice(name, [label]) for name, label in labels.items()]
    who = EXPERTS[0] if task["annotations"][0]["completed_by"] == 2 else EXPERTS[1]
    http.headers["Authorization"] = f"Token {who.token}"
    http.patch(f"/api/annotations/{own}/", json={"result": result}).raise_for_status()
    return int(own)


if __name__ == "__main__":
    main()
