"""``status``, ``list``, ``explain`` and ``inspect_file``: views of a build."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from functools import partial
from itertools import groupby
from typing import TYPE_CHECKING, Any, Literal

from rich.console import Console
from rich.markup import escape
from rich.table import Column, Table
from rich.text import Text

from build_dataset.pipeline.catalogue import STAGES
from build_dataset.pipeline.cli import report
from build_dataset.pipeline.cli.language import is_chinese, stage_name, translated, word
from build_dataset.pipeline.config import ConfigBase
from build_dataset.pipeline.ocr.params import OcrParams
from build_dataset.schemas import errors, taxonomy
from build_dataset.schemas.wording import counted, in_both_languages, look_at

if TYPE_CHECKING:
    from build_dataset.pipeline.inspect.bank import TableView
    from build_dataset.pipeline.runtime.runner import Runner
    from build_dataset.pipeline.set_aside import AsideRow

_STATE_COLOURS = {"done": "green", "stale": "yellow", "incomplete": "yellow", "missing": "dim"}  # of states
Outcome = Literal["rejected", "waiting", "merged", "twins"]
_COUNTS = ("in", "kept", "merged", "rejected", "waiting")
_FILES = 100  # files that `status` lists
_ABREAST = 3  # twins side by side
_WIDEST = 120  # characters shown of a cell of a bank


def inspect(paper: str, config: ConfigBase, pages: str | None = None) -> None:
    """Write a page that shows a paper beside what was read from it, line by line.

    Of a question bank (XLSX, CSV, JSON) print which column is what, and rows beside their questions, without a run.
    """
    from build_dataset.pipeline.inspect.page import inspect_page

    dataset = config.dataset
    if _inspect_bank(config, paper):  # workbooks and JSON have rows, no pages
        return
    numbers = re.fullmatch(r"(\d{1,6})(?:-(\d{1,6}))?", (pages or "").strip())  # "3", "1-20"
    first, last = (int(numbers[1]), int(numbers[2] or numbers[1])) if numbers else (0, 0)
    if pages is not None and not 1 <= first <= last:  # 0-3 and 9-2 are refused
        raise errors.UserError(f"--pages {pages}: write it as FIRST-LAST, e.g. --pages 1-20")
    shown = None if pages is None else range(first, last + 1)
    document, content = inspect_page(dataset.build, dataset.raw, paper, shown)
    path = dataset.build / "inspect" / f"{_file_name(document)}.html"
    report.save(path, content)
    report.print_line(f"{report.shown(path)}: open it in a browser")


def _inspect_bank(config: ConfigBase, wanted: str) -> bool:
    """Show how a tabular file is read; return False for other files."""
    from build_dataset.pipeline.inspect.bank import find_bank, view_bank
    from build_dataset.pipeline.parse.stage import declared_for

    place = find_bank(config.dataset, wanted)
    view = place and view_bank(*place, config.section(OcrParams), declared_for(place[0], config.sources))
    if place is None or view is None:
        return False
    tables, notes = view
    rows = counted(sum(table.ends.total() for table in tables), "row")
    for line in [f"{place[0]}: {rows}", *notes]:
        report.print_line(line)
    for table in tables:
        _print_table(table, len(tables) > 1)
    names = " or ".join(f'[sources."{table.name}"]' for table in tables[:3])  # as examples
    report.print_line(f"fix: {names} in dataset.toml, then inspect again")
    return True


def _print_table(table: TableView, named: bool) -> None:
    """Print a table's mapping, what becomes of its rows, and samples of them."""
    if named:
        report.print_line(table.name, "bold")
    for line in table.told:
        report.print_warning(line)
    if table.columns:
        columns = Table("part 部分", "column 列", "found by 依据")
        ways = table.columns["found_by"]
        for part, name in table.columns.items():
            if part != "found_by":  # how each was found stands in the last column
                columns.add_row(part, escape(str(name)), ways.get(part, ""))
        report.print_whole(columns)
    ends = ", ".join(f"{end} {count:,}" for end, count in table.ends.most_common())  # kept 120, no_answer 3
    report.print_line(f"rows: {ends}")
    rows = Table("row 行", "as it stands 原文", "as it was read 读入", show_lines=True)
    for sample in table.samples:
        lines = (f"{name}: {value}" for name, value in sample.fields.items() if value is not None)
        shown = [f"[yellow]{escape(sample.doubt)}[/yellow]"] if sample.doubt else []
        if question := sample.question:
            options = (f"{option.label}. {escape(option.text)}" for option in question.options)
            key = "".join(question.answer or []) or "—"
            shown += [escape(question.stem), *options, f"答案 answer: {key}"]
        cut = "\n".join(line if len(line) <= _WIDEST else f"{line[:_WIDEST]}…" for line in lines)
        rows.add_row(str(sample.row), escape(cut), "\n".join(shown) or "—")
    Console().print(rows)


def _file_name(name: str) -> str:
    """A name as that of a file: one that had to change ends in a digest, so ``a/b.pdf`` and ``a_b.pdf`` stay apart."""
    plain = re.sub(r"[^\w.-]", "_", name)[-60:]  # the end of a path tells more than its beginning
    return plain if plain == name else f"{plain}-{hashlib.sha256(name.encode()).hexdigest()[:8]}"


def status(config: ConfigBase, as_json: bool = False, waiting: bool = False) -> None:
    """Show every stage and file: state, counts, time and cost; or with --waiting what people decided, by reason."""
    from build_dataset.pipeline.review.folder import count_by_reason
    from build_dataset.pipeline.runtime.runner import Runner
    from build_dataset.pipeline.runtime.sources import SOURCES

    rows = count_by_reason(SOURCES["reviews/settled"](config.dataset)) if waiting else _status_rows(Runner(config))
    if as_json:
        report.print_json(rows)
    elif waiting:
        _print_decided(rows)
    else:
        _print_states(config, rows)


def _print_decided(rows: Sequence[Mapping[str, Any]]) -> None:
    if not rows:
        report.print_line("nothing was decided yet; `build-dataset list waiting` says what waits")
        return
    names = ("settled", "kept", "corrected", "rejected")
    decided = Table(word("reason"), *(Column(word(name), justify="right") for name in names))
    for each in rows:
        alarm = f"  [yellow]{word('probably a false alarm')}[/yellow]" if each["false_alarm"] else ""
        shown = (f"{each[name]:,}" for name in names)
        decided.add_row(escape(in_both_languages(each["reason"])) + alarm, *shown)
    report.print_whole(decided)


def _print_states(config: ConfigBase, rows: Sequence[Mapping[str, Any]]) -> None:
    report.print_doubts(config)
    numbers = (Column(word(name), justify="right") for name in (*_COUNTS, "time", "cost"))
    table = Table(word("stage"), word("state"), *numbers)
    for row in rows:
        colour = _STATE_COLOURS[row["state"]]  # green: nothing to do
        counts = ["" if row[name] is None else f"{row[name]:,}" for name in _COUNTS]
        seconds = "" if row["seconds"] is None else f"{row['seconds']:.1f} s"
        cost = "" if row["cost"] is None else f"{row['cost']:.4g} {row['currency'] or ''}".strip()
        table.add_row(stage_name(row["stage"]), f"[{colour}]{word(row['state'])}[/{colour}]", *counts, seconds, cost)
    report.print_whole(table)
    if {row["state"] for row in rows} == {"missing"}:
        report.print_line("nothing is built yet: `build-dataset doctor` checks this machine, `run` builds")
    for row in rows:
        for outcome, reasons in row["reasons"].items():
            if reasons:
                report.print_line(f"{stage_name(row['stage'])} {word(outcome)}: {report.reason_line(reasons)}")
    report.print_files(config, _FILES)


def _status_rows(runner: Runner) -> list[dict[str, Any]]:
    from build_dataset.pipeline.runtime.publish import last_runs, read_manifest

    runs, states = last_runs(runner.build), runner.states()
    rows = []
    for stage in (stage for stage in STAGES if states[stage.name] != "off"):
        manifest = read_manifest(runner.build / stage.name) or {}
        counts, facts = manifest.get("counts", {}), manifest.get("facts", {})
        row: dict[str, Any] = {"stage": stage.name, "state": states[stage.name], "unit": stage.unit}
        row |= {name: counts.get(name) for name in _COUNTS}
        row["seconds"] = runs[stage.name].seconds if stage.name in runs else None
        row |= {name: facts.get(name) for name in ("cost", "currency")}
        rows.append(row | {"reasons": manifest.get("reasons", {"rejected": {}, "waiting": {}})})
    return rows


def list_items(
    outcome: Outcome,
    config: ConfigBase,
    file: str | None = None,
    reason: str | None = None,
    limit: int = 50,
    as_json: bool = False,
) -> None:
    """List the items that were rejected, merged or wait for a person, with the reason; or families of twins."""
    from build_dataset.pipeline.runtime.publish import find_table
    from build_dataset.pipeline.set_aside import LOSING, TABLES, items, source_losses

    build = config.dataset.build
    if not (build / "ocr").is_dir():
        raise errors.UserError(f"nothing built in {build}: run `build-dataset run` first")
    rows, losses = items(build, outcome, file, reason), source_losses(partial(find_table, build))
    if file and not rows and not any(file.casefold() in loss.document.casefold() for loss in losses):
        raise errors.UserError(f"--file {file}: no such source was read; `build-dataset status` lists them")
    if as_json:
        report.print_json([asdict(row) for row in rows])
        return
    if outcome == "twins":
        families = {row.detail for row in rows[:limit]}
        _print_families([row for row in rows if row.detail in families])
    else:
        _print_groups(rows[:limit], outcome)
    if not rows:
        others = Counter(row.reason for row in items(build, outcome, file))  # a reason that was mistyped
        if reason and others:
            report.print_line(f"no reason {reason} here; there are {report.reason_line(others)}")
    if outcome == "waiting" and reason is None:
        # Say how many questions the rows keep out, as `status` counts them, and how many are only unsettled.
        out = sum(loss.waiting for loss in losses if (file or "").casefold() in loss.document.casefold())
        unsettled = Counter(row.stage for row in rows if row.stage not in LOSING)
        report.print_line(f"{counted(out, 'question')} of {file or 'all files'} kept out, as `status` counts them")
        if unsettled:
            report.print_line(f"not kept out, a label or a key is still open: {report.reason_line(unsettled)}")
    rest = f", {len(rows) - limit:,} of them not shown (--limit)" if len(rows) > limit else ""
    report.print_line(f"{counted(len(rows), 'item')} {'in families of ' if outcome == 'twins' else ''}{outcome}{rest}")
    if rows:
        where = report.shown(build / "STAGE" / TABLES[outcome])
        report.print_line(f"more: build-dataset explain ID · {where}.parquet")


def _print_groups(items: Sequence[AsideRow], outcome: Outcome) -> None:
    """Print items below their file and reason, each in one line that fits the terminal."""
    for (document, why, detail), rows in groupby(
        items, lambda row: (row.document, row.reason, " ".join(row.detail.split()).removeprefix(f"{row.reason}: "))
    ):
        report.print_line(f"{document} · {in_both_languages(why)} · {translated(detail)}", "bold")
        if outcome == "waiting" and is_chinese() and look_at(why) != look_at("else"):
            report.print_line(f"  {look_at(why)[0]}", "dim")
        for row in (row for row in rows if row.item_id != document):  # a rejected file is told in the heading
            line = " ".join(row.text.split())
            Console().print(Text(f"  {row.item_id}  {line}"), no_wrap=True, overflow="ellipsis", highlight=False)


def _print_families(questions: Sequence[AsideRow]) -> None:
    """Print the questions of each family side by side, for a decision: keep both, or one of them in test."""
    for family, members in groupby(questions, lambda row: row.detail):
        rows = list(members)
        table = Table(*(f"{row.item_id} · {row.reason}" for row in rows[:_ABREAST]), title=f"family 同族 {family}")
        table.add_row(*(escape(row.text) for row in rows[:_ABREAST]))
        Console().print(table)
        if len(rows) > _ABREAST:
            report.print_line(f"… and {counted(len(rows) - _ABREAST, 'question')} more of this family (--json)")


def explain(question_id: str, config: ConfigBase, as_json: bool = False, crop: bool = False) -> None:
    """Show the history of one question: source, stages, labels, split."""
    from build_dataset.pipeline.explain import explain as story_of, question_place

    dataset = config.dataset
    story = story_of(dataset.build, question_id)
    picture = dataset.build / "crops" / f"{_file_name(story.question_id)}.png" if crop else None
    if picture:  # pages are drawn in a worker: seconds
        from build_dataset.pipeline.crop import crop_in_worker, find_paper

        document, regions = question_place(dataset.build, story)
        report.save(picture, crop_in_worker(find_paper(dataset.build, dataset.raw, document), regions))
    if as_json:
        report.print_json(asdict(story) | ({"crop": str(picture)} if picture else {}))
        return
    report.print_template("explain", story)
    if story.labels or story.annotations:
        table = Table(*map(word, ("dimension", "label", "status", "who")))
        final = {row["dimension"]: row for row in story.labels}
        machine = {row["dimension"]: row for row in story.annotations}
        for name, dimension in taxonomy.dimensions().items():
            row, guess = final.get(name), machine.get(name, {})
            known = row or guess  # the experts first, then the annotator
            label, guessed = known.get("label"), word(" (estimate)") if known.get("estimate") else ""
            both = f"{label} {dimension.english(label) or ''}" if label else "—"
            who = ", ".join(row["reviewers"]) if row and row["reviewers"] else guess.get("annotator", "")
            status = row["status"] if row else "annotated"
            table.add_row(f"{dimension.zh} {dimension.en}", escape(both + guessed), word(status), escape(who))
        Console().print(table)
    if picture:
        report.print_line(f"crop: {report.shown(picture)}")
