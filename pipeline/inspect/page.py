"""The page of a paper, put together."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from markupsafe import Markup, escape

from pipeline.crop import find_paper
from pipeline.inspect.collect import PaperTables, cards, key_of, keys_for
from pipeline.inspect.model import NAMES, REGION_NAMES, Fate, ItemCard, PaperView
from pipeline.inspect.sheets import pictures, sheets
from pipeline.rendering.html import render
from schemas.documents import Page
from schemas.errors import UserError
from schemas.wording import counted, findings, in_both_languages

MAX_PAGES = 120
"""Pages on one HTML page: more are neither legible in its size nor quick to load."""


def inspect_page(build: Path, raw: Path, wanted: str, pages: range | None = None) -> tuple[str, bytes]:
    """The paper's name and its HTML page.

    Args:
        build: the build folder.
        raw: the folder with the papers.
        wanted: the paper's name, or a part of it that no other has.
        pages: which pages to show, from 1; None for the first ``MAX_PAGES``.

    Raises:
        UserError: there is no such paper, or no such pages.
    """
    view = look(build, raw, wanted, pages)
    return view.document, render(
        "pipeline.inspect:paper.html",
        view=view,
        names=NAMES,
        regions={kind.value: names for kind, names in REGION_NAMES.items()},
        findings=findings,
        in_both_languages=in_both_languages,
        marked=_marked,
        uncertain=(Fate.WAITING, Fate.UNUSED, Fate.DOUBTFUL),
    )


_QUOTED = re.compile(r"'([^']{4,120})'")
"""The place that a finding names: something is missing in stem: '1,2,3, ,n，其出栈序列'."""


def _marked(card: ItemCard, text: str) -> Markup:
    """Return a text in which the places that the card's findings quote are marked."""
    shown = escape(text)
    for quoted in {found for event in card.events for found in _QUOTED.findall(event.detail or "")}:
        place = escape(quoted.replace("\\n", "\n"))
        shown = shown.replace(place, Markup("<mark>{}</mark>").format(place))
    return shown


def look(build: Path, raw: Path, wanted: str, pages: range | None = None) -> PaperView:
    """Return the content of the page; see ``inspect_page``."""
    tables = PaperTables(build, wanted)
    count = max((page.page for page in tables.pages), default=0)
    shown = pages or range(1, min(count, MAX_PAGES) + 1)
    if len(shown) > MAX_PAGES or shown.start > count:
        raise UserError(
            f"{tables.document.document} has pages 1-{count}; ask for {MAX_PAGES} of them at most"
        )
    notes = []
    if len(shown) < count:
        notes.append(
            f"Pages {shown.start}–{min(shown.stop - 1, count)} of {count}; --pages FIRST-LAST shows others."
        )
    found = [card for card in cards(tables) if not card.pages or set(card.pages) & set(shown)]
    view = PaperView(
        tables.document.document,
        tables.document.format,
        _facts(tables),
        sheets(tables, found, shown),
        found,
        _count(card.fate for card in found),
        notes,
    )
    view.notes += _draw(build, raw, view)
    return view


def _count(fates: Iterable[Fate]) -> dict[Fate, int]:
    counted = Counter(fates)
    return {fate: counted[fate] for fate in Fate if counted[fate]}


def _facts(tables: PaperTables) -> list[tuple[str, str]]:
    document = tables.document
    methods = Counter(_method(page) for page in tables.pages)
    facts = [
        ("format 格式", f"{document.format}, {counted(document.pages or 0, 'page')}"),
        ("read by 读取", ", ".join(f"{method} {count}" for method, count in sorted(methods.items()))),
    ]
    exam = [name for name in (document.exam_type, document.exam_class, document.exam_subject) if name]
    if exam:
        facts.append(("exam 考试", " · ".join(exam)))
    if key := key_of(tables):
        facts.append(("answers of 所答试卷", key))
    if keys := keys_for(tables):
        facts.append(("answers from 答案来自", ", ".join(keys)))
    return [*facts, ("sha256", document.sha256[:16])]


def _method(page: Page) -> str:
    """Return the way in which a page was read, and the reason."""
    reason = (page.reason or "").partition(":")[0]
    return f"{page.method.value} ({reason})" if reason else page.method.value


def _draw(build: Path, raw: Path, view: PaperView) -> list[str]:
    """Put pictures behind the boxes; what stands in the way is returned as notes."""
    boxed = [sheet for sheet in view.sheets if not sheet.texts and sheet.page.width > 0]
    if not boxed:
        return ["This format has no pages to show: its lines stand on the left."] if view.sheets else []
    try:
        paper = find_paper(build, raw, view.document)
    except UserError as error:
        return [f"No pictures: {error}"]
    drawn, failed = pictures(paper, [sheet.page.page for sheet in boxed])
    for sheet in boxed:
        sheet.picture = drawn.get(sheet.page.page)
    return [f"Page {page} cannot be shown: {why}" for page, why in sorted(failed.items())]
