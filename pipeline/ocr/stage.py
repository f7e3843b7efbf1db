"""The ocr stage: every file of the raw folder becomes pages and lines, or rows, or is rejected with a reason."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

from pipeline.archives import locate
from pipeline.ocr import engines
from pipeline.ocr.assemble import (
    MANIFEST,
    DocumentState,
    Exam,
    TableBuilder,
    exam_of,
    manifest_within,
    read_manifest,
)
from pipeline.ocr.model import PageRead
from pipeline.ocr.pages import Boxes, PageStore, Recognition
from pipeline.ocr.params import EngineName, OcrParams
from pipeline.ocr.tasks import FileTask, PageTask, inspect, read_pages, recognise_page
from pipeline.stage import Context, Counts, Failure, Result, Tables
from schemas.documents import RawFile, ReadMethod
from schemas.errors import UnreadableDocument
from schemas.questions import Rejection

CHUNK = 32
"""Pages of one document in a task: a text layer takes about 15 ms a page, handing over a task about 5 ms."""

GIVE_UP = 3
"""Pages of a paper that take too long or crash the reader before the rest of it is not tried: hostile papers of
thousands of such pages would take hours."""

_ALONE = 1 / 3
"""Share of ``text_timeout`` that a page has when it is read alone, because its chunk was given up: 100 times its 15 ms.
With workers three pages ahead, a paper of such pages is given up after some 15 s."""

_HANG = 10
"""Times ``page_timeout`` by the clock after which work that takes no processor time is given up. Processor time is what
limits work: on a busy machine the clock lost sound pages."""

_MENDABLE = ("timeout", "crashed", "killed", "not_answered")


def run(tables: Tables, params: OcrParams, context: Context) -> Result:
    """Read every file of table ``files``.

    Files are the unit of the counts: kept when read, merged when their bytes equal an earlier file's,
    rejected with a reason. A page that cannot be read does not lose its document: it stands in table
    ``pages`` as ``blank`` with the reason, and in the facts. Hidden files and the manifest are not counted.

    Raises:
        UserError: the manifest is wrong, or the chosen engine is not installed and a page needs it.
    """
    within = _manifests_within(tables["files"]["document"].to_list(), context)
    manifest = read_manifest(context.raw)
    for found in within.values():
        manifest |= found
    first, duplicates = _sort(
        file for file in RawFile.from_frame(tables["files"]) if file.document not in within
    )
    readings, rejects = _look(first, params, context)
    store = PageStore(context.store, params)
    _read_text(readings, store, params, context)
    _recognise(readings, store, context)
    if late := [reading for reading in readings if _timed_out(reading)]:
        for reading in late:
            reading.failures = {
                n: fault for n, fault in reading.failures.items() if fault.reason != "timeout"
            }
        _read_text(late, store, params, context)
        _recognise(late, store, context)
    doubtful = _jobs(readings, store.doubtful)
    all_second = store.second is None or _recognise_by(store.second, doubtful, store, context, required=False)

    builder = TableBuilder()
    summary = _Summary()
    kept = 0
    for reading in readings:
        if reading.pages and len(reading.failures) == len(reading.pages):
            rejects.append(_rejection(reading.name, reading.failures[1]))
            continue
        pages = [store.page(reading, number) for number in reading.pages]
        summary.add(reading, pages)
        builder.add(reading, pages, exam_of(reading.name, manifest))
        kept += 1
    rejects.sort(key=lambda reject: reject.item_id)
    left_out = {
        reading.name: [told.replace('"FILE"', f'"{reading.name}"') for told in reading.facts.told]
        for reading in readings
        if reading.facts.told
    }
    return Result(
        tables=dict(builder.tables()),
        counts=Counts(
            n_input=len(first) + len(duplicates),
            kept=kept,
            merged=len(duplicates),
            rejected=len(rejects),
        ),
        rejects=rejects,
        facts={**summary.facts(duplicates, params), **({"left_out": left_out} if left_out else {})},
        complete=all_second
        and all(reject.reason != "killed" for reject in rejects)
        and not any(one.reason in _MENDABLE for each in readings for one in each.failures.values()),
        notes=[
            *summary.notes(duplicates),
            *(f"{name}: {told}" for name, found in left_out.items() for told in found),
            *_astray(manifest, tables["files"]["document"].to_list()),
        ],
    )


def vision_pages(tables: Tables, params: OcrParams, context: Context) -> int:
    """Return how many pages the vision model would be sent: those that need it and are not in the store.

    Text layers are read for that and, where it is the second engine, pages are recognised by the first one.
    """
    readings, _ = _look(_sort(RawFile.from_frame(tables["files"]))[0], params, context)
    store = PageStore(context.store, params)
    _read_text(readings, store, params, context)
    if params.engine is EngineName.VISION:
        return sum(not boxes for _, _, boxes in _jobs(readings, store.unrecognised))
    if params.second is not EngineName.VISION:
        return 0
    _recognise(readings, store, context)
    return len(_jobs(readings, store.doubtful))


def _manifests_within(documents: Sequence[str], context: Context) -> dict[str, dict[str, Exam]]:
    """The manifests of folders and archives among the papers, by their own names."""
    found: dict[str, dict[str, Exam]] = {}
    for name in documents:
        if name.endswith(f"/{MANIFEST}"):
            with suppress(UnreadableDocument):
                manifest = manifest_within(locate(context.raw, context.build, name), name)
                found |= {name: manifest} if manifest is not None else {}
    return found


def _timed_out(reading: DocumentState) -> bool:
    """Return whether pages of a paper took too long, and not so many that it was given up: they are tried once more."""
    return 0 < sum(failure.reason == "timeout" for failure in reading.failures.values()) < GIVE_UP


def _astray(manifest: Mapping[str, Exam], documents: Sequence[str]) -> list[str]:
    """Return what the manifest names and the raw folder does not hold: most often a typing error."""
    missing = sorted(set(manifest) - set(documents))
    return [f"{MANIFEST} names {len(missing)} files that are not there: {_some(missing)}"] if missing else []


def _sort(files: Iterator[RawFile]) -> tuple[list[RawFile], dict[str, str]]:
    """Return the files to read, and the others by name with the earlier document that has the same bytes."""
    seen: dict[str, RawFile] = {}
    duplicates: dict[str, str] = {}
    for file in sorted(files, key=lambda file: file.document):
        if not is_ignored(file.document) and seen.setdefault(file.sha256, file) is not file:
            duplicates[file.document] = seen[file.sha256].document
    return list(seen.values()), duplicates


def _look(
    files: Sequence[RawFile], params: OcrParams, context: Context
) -> tuple[list[DocumentState], list[Rejection]]:
    """Open every file in a worker, where a hostile one can do no harm."""
    by_name = {file.document: file for file in files}
    readings: list[DocumentState] = []
    rejects: list[Rejection] = []
    tasks: list[FileTask] = []
    for name in by_name:
        try:
            tasks.append(FileTask(name, locate(context.raw, context.build, name), params))
        except UnreadableDocument as error:
            rejects.append(_rejection(name, Failure(error.reason, error.detail)))
    with context.progress(len(tasks), "files") as advance:
        for task, facts in context.map(inspect, tasks, timeout=_HANG * params.page_timeout):
            advance(1)
            if isinstance(facts, Failure):
                rejects.append(_rejection(task.document, facts))
            else:
                readings.append(DocumentState(by_name[task.document], task.path, facts))
    return sorted(readings, key=lambda reading: reading.name), rejects


def is_ignored(document: str) -> bool:
    """Return whether a file of the raw folder is no paper: hidden files, readme files, the manifest."""
    parts = document.split("/")
    hidden = any(part.startswith((".", "~$")) for part in parts)
    return hidden or document == MANIFEST or parts[-1].lower().startswith("readme")


def _rejection(document: str, failure: Failure) -> Rejection:
    return Rejection(item_id=document, stage="ocr", reason=failure.reason, detail=failure.detail)


def _read_text(
    readings: Sequence[DocumentState], store: PageStore, params: OcrParams, context: Context
) -> None:
    """Read the text layers that are not in the store, in chunks; a chunk that fails is read page by page."""
    by_name = {reading.name: reading for reading in readings}
    again: list[PageTask] = []
    tasks = [task for reading in readings for task in _chunks(reading, store.unread(reading), params)]
    alone = params.model_copy(update={"text_timeout": _ALONE * params.text_timeout})

    def read(tasks: Iterator[PageTask], advance: Callable[[int], None]) -> None:
        for task, values in context.map(read_pages, tasks, timeout=_HANG * params.page_timeout):
            advance(len(task.pages))
            if not isinstance(values, Failure):
                store.put_text(by_name[task.document], task.pages, values)
            elif len(task.pages) > 1:
                again.append(task)
            else:
                by_name[task.document].failures[task.pages[0]] = values

    with context.progress(sum(len(task.pages) for task in tasks), "pages") as advance:
        read(_of_sound_papers(tasks, again), advance)
    singles = [replace(task, pages=(page,), params=alone) for task in again for page in task.pages]
    read(_until_given_up(singles, by_name), lambda _: None)


def _of_sound_papers(tasks: Sequence[PageTask], again: list[PageTask]) -> Iterator[PageTask]:
    """The chunks, but for further ones of a paper of which one has failed: they are read page by page too."""
    for task in tasks:
        if any(task.document == failed.document for failed in again):
            again.append(task)
        else:
            yield task


def _until_given_up(
    tasks: Sequence[PageTask], by_name: Mapping[str, DocumentState], fatal: Container[str] | None = None
) -> Iterator[PageTask]:
    """The pages, until so many of a paper have failed that it is given up; ``fatal`` names the reasons that count."""
    for task in tasks:
        failures = by_name[task.document].failures
        counted = [failure for failure in failures.values() if fatal is None or failure.reason in fatal]
        if len(counted) < GIVE_UP:
            yield task
        else:
            detail = counted[-1].detail.removeprefix(_NOT_TRIED)
            failures[task.pages[0]] = Failure(counted[-1].reason, f"{_NOT_TRIED}{detail}")


_NOT_TRIED = f"not tried after {GIVE_UP} pages: "


def _chunks(reading: DocumentState, pages: Sequence[int], params: OcrParams) -> Iterator[PageTask]:
    for start in range(0, len(pages), CHUNK):
        yield _task(reading, tuple(pages[start : start + CHUNK]), params)


def _task(reading: DocumentState, pages: tuple[int, ...], params: OcrParams) -> PageTask:
    return PageTask(reading.name, reading.path, reading.facts.format, pages, params)


def _recognise(readings: Sequence[DocumentState], store: PageStore, context: Context) -> None:
    """Recognise what needs OCR and is not in the store, one page a task: all of it, or lines with lost characters.

    Lines keep what the text layer says where their recognition fails; pages are lost.
    """
    jobs = _jobs(readings, store.unrecognised)
    _recognise_by(store.first, [job for job in jobs if not job[2]], store, context, required=True)
    _recognise_by(store.lines, [job for job in jobs if job[2]], store, context, required=False)


_Job = tuple[DocumentState, int, Boxes]
"""A page to recognise, or lines of it."""


def _jobs(
    readings: Sequence[DocumentState], needed: Callable[[DocumentState], dict[int, Boxes]]
) -> list[_Job]:
    return [
        (reading, page, boxes)
        for reading in readings
        for page, boxes in needed(reading).items()
        if page not in reading.failures
    ]


def _recognise_by(
    by: Recognition, jobs: Sequence[_Job], store: PageStore, context: Context, *, required: bool
) -> bool:
    """Have an engine read pages or lines and store that; whether all were read.

    A page that it cannot read is lost where it is ``required``.
    """
    if not jobs:
        return True
    engines.check(by.params)
    by_name = {reading.name: reading for reading, _, _ in jobs}
    tasks = [replace(_task(one, (page,), by.params), boxes=boxes) for one, page, boxes in jobs]
    failed = False
    with context.progress(len(tasks), "pages (OCR)") as advance:
        for task, value in _recognised(_until_given_up(tasks, by_name, _MENDABLE), by.params, context):
            advance(1)
            reading = by_name[task.document]
            if not isinstance(value, Failure):
                store.put_recognised(by, reading, task.pages[0], task.boxes, value)
            elif required:
                reading.failures[task.pages[0]] = value
            failed |= isinstance(value, Failure)
    return not failed


def _recognised(
    tasks: Iterator[PageTask], params: OcrParams, context: Context
) -> Iterator[tuple[PageTask, dict[str, Any] | Failure]]:
    """Return an engine's reading of pages or lines; vision models are asked from here, other engines run in workers."""
    limit = _HANG * params.page_timeout
    if params.engine is not EngineName.VISION:
        yield from context.map(recognise_page, tasks, timeout=limit)
        return
    from pipeline.ocr.engines.vision import recognise_pages

    yield from recognise_pages(list(tasks), params.vision, context, limit)


@dataclass(slots=True)
class _Summary:
    """Facts for the manifest and the user."""

    formats: Counter[str] = field(default_factory=Counter)
    methods: Counter[str] = field(default_factory=Counter)
    reasons: Counter[str] = field(default_factory=Counter)
    lost: list[str] = field(default_factory=list)
    doubtful: list[str] = field(default_factory=list)

    def add(self, reading: DocumentState, pages: Sequence[PageRead]) -> None:
        self.formats[reading.facts.format] += 1
        for number, page in enumerate(pages, 1):
            self.methods[page.method.value] += 1
            if page.reason:
                self.reasons[page.reason.partition(":")[0]] += 1
            if number in reading.failures or (page.reason or "").startswith("broken_page"):
                self.lost.append(f"{reading.name}#{number}: {page.reason}")
            if page.confidence is not None and page.confidence < LOW_CONFIDENCE:
                self.doubtful.append(f"{reading.name}#{number}: {page.confidence:.2f}")

    def facts(self, duplicates: dict[str, str], params: OcrParams) -> dict[str, object]:
        return {
            "documents_by_format": dict(sorted(self.formats.items())),
            "pages_by_method": dict(sorted(self.methods.items())),
            "pages_by_reason": dict(sorted(self.reasons.items())),
            "pages_lost": self.lost,
            "pages_of_low_confidence": self.doubtful,
            "duplicate_files": duplicates,
            "ocr_engine": engines.chosen(params).name.value if self.methods[ReadMethod.OCR.value] else None,
        }

    def notes(self, duplicates: dict[str, str]) -> list[str]:
        same = [f"{name} of {first}" for name, first in duplicates.items()]
        notes = [f"merged, since they have the bytes of others: {_some(same)}"] if same else []
        if self.lost:
            notes.append(f"{len(self.lost)} pages could not be read and are blank: {_some(self.lost)}")
        if self.doubtful:
            notes.append(f"{len(self.doubtful)} pages were read with low confidence: {_some(self.doubtful)}")
        return notes


LOW_CONFIDENCE = 0.9
"""Mean confidence below which a page is named in the notes, as in the report: clean scans have .96 and more."""


def _some(items: list[str]) -> str:
    return ", ".join(items[:3]) + (" …" if len(items) > 3 else "")
