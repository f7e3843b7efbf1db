"""1,000 questions through the whole review in a real Label Studio, two of the answers by keyboard in a real browser.

``python -m benchmarks.review.end_to_end [QUESTIONS]`` makes a server of its own in a temporary folder (Label Studio
must be installed: ``make label-studio``; and Chromium). Two experts answer from a script that says where they differ
from the labels that were filled in, so that everything that is measured is known beforehand and compared: raw
agreement, kappa, who disputes what, and the final label of every question.
"""

from __future__ import annotations

import os
import random
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import polars as pl

from benchmarks.review.incremental import KEY, context_in, made
from build_dataset.annotation.label_studio.server import Account, Installation, create_accounts
from build_dataset.annotation.label_studio.tasks import QUESTION_ID
from build_dataset.annotation.params import ReviewParams
from build_dataset.pipeline.review import exchange, stage
from build_dataset.pipeline.stage import Context, Result
from build_dataset.schemas.annotations import LabelStatus
from build_dataset.schemas.taxonomy import dimensions
from tests.services.browser import CHROMIUM, browser
from tests.services.label_studio_browser import Desk
from tests.services.label_studio_server import (
    ACCOUNTS,
    ADMIN,
    LI,
    WANG,
    ZHANG,
    LabelStudioServer,
    free_port,
    launch_server,
    stop_server,
)
from tests.services.reviewing import answer, tasks

CHANGES = {ZHANG: 0.04, LI: 0.06}
"""Share of filled-in labels that an expert changes."""
FLAGGED = 0.01
T = TypeVar("T")
Labels = dict[str, str]


@dataclass
class Script:
    """Everybody's labels of every question."""

    filled_in: Mapping[str, Labels]
    said: Mapping[Account, dict[str, Labels]]
    flagged: set[str]

    @classmethod
    def of(cls, annotations: pl.DataFrame, seed: int = 20230605) -> Script:
        """Draw where the experts differ from what is filled in."""
        lot = random.Random(seed)
        filled_in: dict[str, Labels] = {}
        for question_id, name, label in annotations.select("question_id", "dimension", "label").iter_rows():
            filled_in.setdefault(question_id, {})[name] = label
        said = {
            account: {
                question_id: {name: _perhaps_other(lot, name, own[name], share) for name in own}
                for question_id, own in filled_in.items()
            }
            for account, share in CHANGES.items()
        }
        return cls(filled_in, said, {question_id for question_id in filled_in if lot.random() < FLAGGED})

    def disputed(self) -> set[str]:
        """Questions on which the two differ."""
        return {each for each in self.filled_in if self.said[ZHANG][each] != self.said[LI][each]}

    def final(self, question_id: str) -> Labels:
        """Its final label: the adjudicator sides with the second expert."""
        return self.said[LI][question_id]


def _label(number: int) -> Labels:
    """The labels filled in: few labels often and many seldom, as in real exams."""
    lot = random.Random(number)
    return {
        name: lot.choices(own.zh_names(), [1 / (place + 1) for place in range(len(own.labels))])[0]
        for name, own in dimensions().items()
    }


def _perhaps_other(lot: random.Random, name: str, label: str, share: float) -> str:
    names = dimensions()[name].zh_names()
    return lot.choice([each for each in names if each != label]) if lot.random() < share else label


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    installation = Installation(Path(".venv-label-studio"))
    if not installation.ready() or CHROMIUM is None:
        sys.exit("needs Label Studio (`make label-studio`) and Chromium")
    os.environ[KEY] = ADMIN.token
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder) / "home"
        create_accounts(installation, home, ACCOUNTS)
        server = launch_server(installation, home, free_port())
        try:
            _review(count, LabelStudioServer(server.url, home), context_in(Path(folder)))
        finally:
            stop_server(home)


def _review(count: int, server: LabelStudioServer, context: Context) -> None:
    params = ReviewParams(url=server.url, bootstrap=1000)
    tables = made(count, "lexicon", _label)
    script = Script.of(tables["annotations"])
    print(f"| {count:,} questions | s | |\n| --- | ---: | --- |")
    sent = _timed("push", lambda: exchange.push(tables, params, context), lambda r: f"{r.added} added")
    again = _timed("push again", lambda: exchange.push(tables, params, context), lambda r: f"{r.added} added")
    assert (sent.added, again.added, again.updated) == (count, 0, 0)
    by_hand = _timed("a question each in the browser", lambda: _at_screens(server, sent.project), str)
    for account, question_id in by_hand.items():  # they accepted what was filled in
        script.said[account][question_id] = script.filled_in[question_id]
        script.flagged.discard(question_id)
    _timed("two experts, all others, by API", lambda: _answer(server, sent.project, script, by_hand), str)
    assert all(server.as_expert(who).next_task(sent.project) is None for who in CHANGES), "nothing is left"
    pulled = _timed("pull", lambda: exchange.pull(params, context)[0], lambda r: f"{r.new} annotations")
    assert (pulled.new, dict(pulled.rejects), pulled.third_experts) == (2 * count, {}, ())
    first = _timed("labels and agreement", lambda: _settle(tables, params, context), _states)
    open_cases = script.disputed() | script.flagged
    assert {item.item_id for item in first.review} == open_cases
    cases = _timed(
        "adjudicate",
        lambda: exchange.adjudicate(_with_reviews(tables, context), params, context),
        lambda r: f"{r.added} cases",
    )
    assert cases.added == len(open_cases)
    _timed("the third expert, by API", lambda: _rule(server, cases.project, script), str)
    _timed("pull", lambda: exchange.pull(params, context), lambda r: f"{sum(each.new for each in r)} rulings")
    final = _timed("final labels", lambda: _settle(tables, params, context), _states)
    _check(final, script)
    _print_agreement(final, script)


def _timed(name: str, work: Callable[[], T], said: Callable[[T], str]) -> T:
    begin = time.perf_counter()
    result = work()
    print(f"| {name} | {time.perf_counter() - begin:.1f} | {said(result)} |", flush=True)
    return result


class _Screens(dict[Account, str]):
    """Which question each expert answered before the screen."""

    def __str__(self) -> str:
        return f"{len(self)} answered with one chord"


def _at_screens(server: LabelStudioServer, project: int) -> _Screens:
    done = _Screens()
    with browser() as page:
        desk = Desk(page, server.url)
        for account in CHANGES:
            served = server.as_expert(account).next_task(project)
            assert served is not None
            desk.log_in(account)
            desk.begin(project)
            desk.submit()
            task = server.as_expert(account).http.get(f"/api/tasks/{served['id']}/").json()
            assert any(each["result"] for each in task["annotations"])
            done[account] = served["data"][QUESTION_ID]
    return done


def _answer(server: LabelStudioServer, project: int, script: Script, done: Mapping[Account, str]) -> str:
    """Both at the same time, each in an order of their own."""
    ids = tasks(server, project)

    def work(account: Account) -> None:
        expert = server.as_expert(account)
        order = [question_id for question_id in ids if question_id != done[account]]
        random.Random(account.email).shuffle(order)
        for question_id in order:
            flags = ["超出范围"] if account is LI and question_id in script.flagged else []
            expert.submit(ids[question_id], answer(script.said[account][question_id], flags))

    threads = [threading.Thread(target=work, args=(account,)) for account in CHANGES]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return f"{2 * len(ids) - len(done)} annotations"


def _rule(server: LabelStudioServer, project: int, script: Script) -> str:
    """The adjudicator is served case after case, as on the screen, and clears every flag."""
    expert, count = server.as_expert(WANG), 0
    while (task := expert.next_task(project)) is not None:
        text = "".join(str(value) for value in task["data"].values())
        assert ZHANG.email not in text
        assert LI.email not in text
        expert.submit(task["id"], answer(script.final(task["data"][QUESTION_ID])))
        count += 1
    return f"{count} rulings"


def _with_reviews(tables: dict[str, pl.DataFrame], context: Context) -> dict[str, pl.DataFrame]:
    names = ("pulled", "corrections")
    return tables | {name: pl.read_parquet(context.build / "reviews" / f"{name}.parquet") for name in names}


def _settle(tables: dict[str, pl.DataFrame], params: ReviewParams, context: Context) -> Result:
    return stage.run(_with_reviews(tables, context), params, context)


def _states(result: Result) -> str:
    states: Mapping[str, int] = result.facts["states"]
    return ", ".join(f"{count} {state}" for state, count in states.items() if count)


def _check(final: Result, script: Script) -> None:
    """Every label is what the script leads to, with the right status; nothing waits."""
    assert not final.review
    rows = final.tables["labels"].select("question_id", "dimension", "label", "status").iter_rows()
    for question_id, name, label, status in rows:
        both = {script.said[account][question_id][name] for account in CHANGES}
        assert label == script.final(question_id)[name], (question_id, name)
        assert status == (LabelStatus.AGREED if len(both) == 1 else LabelStatus.ADJUDICATED), (question_id, name)


def _print_agreement(final: Result, script: Script) -> None:
    """Agreement by dimension, beside what scikit-learn makes of the script."""
    from sklearn.metrics import cohen_kappa_score

    pair = f"{LI.email} & {ZHANG.email}"
    rows = final.tables["agreement"].filter(pl.col("label").is_null() & pl.col("slice").is_null())
    found = {(row["dimension"], row["reviewers"]): row for row in rows.iter_rows(named=True)}
    print("\n| dimension | questions | raw | kappa | 95 % | scikit-learn's kappa | alpha | 95 % |")
    print("| --- | ---: | ---: | ---: | --- | ---: | ---: | --- |")
    for name in dimensions():
        mine, every = found[name, pair], found[name, "all"]
        one, other = ([script.said[who][each][name] for each in script.filled_in] for who in (ZHANG, LI))
        peer = cohen_kappa_score(one, other)
        assert abs(mine["kappa"] - peer) < 1e-9
        assert abs(mine["raw"] - sum(a == b for a, b in zip(one, other, strict=True)) / len(one)) < 1e-9
        kappa = f"{mine['kappa']:.4f} | {mine['kappa_low']:.3f}–{mine['kappa_high']:.3f}"
        alpha = f"{every['alpha']:.4f} | {every['alpha_low']:.3f}–{every['alpha_high']:.3f}"
        print(f"| {name} | {mine['items']} | {mine['raw']:.3f} | {kappa} | {peer:.4f} | {alpha} |")


if __name__ == "__main__":
    main()
