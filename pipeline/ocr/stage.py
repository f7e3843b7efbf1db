"""The ocr stage: every file of the raw folder becomes pages and lines, or rows, or is rejected with a reason."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby, starmap
from typing import Any

from build_dataset.pipeline.archives import locate
from build_dataset.pipeline.ocr import assemble, engines
from build_dataset.pipeline.ocr.assemble import MANIFEST, DocumentState, exam_of
from build_dataset.pipeline.ocr.joining import join_pictures
from build_dataset.pipeline.ocr.pages import Job, PageMethod, PageStore, Recognition
from build_dataset.pipeline.ocr.params import EngineName, OcrParams
from build_dataset.pipeline.ocr.tasks import FileFacts, FileTask, PageTask, inspect_file, read_pages, recognise_page
from build_dataset.pipeline.stage import Context, Counts, Failure, Result, Tables
from build_dataset.schemas.documents import Page, RawFile, ReadMethod
from build_dataset.schemas.errors import UnreadableDocument
from build_dataset.schemas.questions import Rejection

CHUNK = 32  # Pages of one document in a task: a text layer takes about 15 ms a page, handing over a task about 5 ms
GIVE_UP = 3
"""Pages that take too long or crash the reader before the rest is not tried: of hostile papers all would take hours."""
_ALONE = 1 / 3
"""Share of ``text_timeout`` that a page has when it is read alone, because its chunk was given up: 100 times its 15 ms.
With workers three pages ahead, a paper of such pages is given up after some 15 s."""
_HANG = 10
"""Factor on ``page_timeout``, processor time, for the limit by the clock, which ends work that takes no such time."""
_OUTSIDE = ("killed", "io_error")
"""Reasons that lie in the machine: a file that was given up for one of them is looked at again by the next run."""
_MENDABLE = ("timeout", "crashed", "not_answered", *_OUTSIDE)
_NOT_TRIED = f"not tried after {GIVE_UP} pages: "
LOW_CONFIDENCE = 0.9
"""Mean confidence below which a page is named in the notes, as in the report: clean scans have .96 and more."""


def run(tables: Tables, params: OcrParams, context: Context) -> Result:
    """Read every file of table ``files``.

    Files are kept when read, merged when their bytes equal an earlier file's, or rejected; hidden ones and the manifest
    are not counted. A page that cannot be read is ``blank`` with the reason in table ``pages``, and in the facts.
    ``UserError``: the manifest is wrong, or the chosen engine is not installed and a page needs it.
    """
    manifest = assemble.read_manifest(context.raw)
    first, duplicates = _sort(RawFile.from_frame(tables["files"]))
    readings, rejects, joined = _look(first, params, context)
    store = PageStore(context.store, params)
    _read(readings, store, context)
    store.learn(readings)
    second, doubtful = store.second, store.doubtful(readings)
    all_second = second is None or _recognise(second, doubtful, store, context, required=False)

    lost = {reading.name: reading.failures[1] for reading in readings if reading.pages and not reading.sound}
    rejects += starmap(_rejection, lost.items())
    read = ((one, [store.page(one, number) for number in one.pages]) for one in readings if one.name not in lost)
    made = assemble.build_tables((one, pages, exam_of(one.name, manifest)) for one, pages in read)
    told = {one.name: [note.replace('"FILE"', f'"{one.name}"') for note in one.facts.told] for one in readings}
    left_out = {name: found for name, found in told.items() if found}
    facts = _facts(made, duplicates, params)
    pages = {one.name: [part.name for part in one.parts if not part.failures] for one in readings if one.parts}
    merged = len(duplicates) + sum(len(names) - 1 for names in pages.values())
    missing = sorted(set(manifest) - set(tables["files"]["document"]))  # most often typing errors
    astray = [f"{MANIFEST} names {len(missing)} files that are not there: {_some(missing)}"] if missing else []
    left = (f"{name}: {note}" for name, found in left_out.items() for note in found)
    return Result(
        tables=made,
        counts=Counts(len(first) + len(duplicates), made["documents"].height, merged=merged, rejected=len(rejects)),
        rejects=sorted(rejects, key=lambda reject: reject.item_id),
        facts=facts | ({"left_out": left_out} if left_out else {}) | ({"joined": pages} if pages else {}),
        complete=all_second
        and all(reject.reason not in _OUTSIDE for reject in rejects)
        and not any(one.reason in _MENDABLE for each in readings for one in each.failures.values()),
        notes=[*_notes(facts), *joined, *left, *astray],
    )


def estimate(tables: Tables, params: OcrParams, context: Context) -> list[str]:
    """Return what the vision model would cost."""
    return [params.vision.estimate(vision_pages(tables, params, context))]


def vision_pages(tables: Tables, params: OcrParams, context: Context) -> int:
    """Return how many pages the vision model would be sent: those that need it and are not in the store.

    Text layers are read for that and, where it is the second engine, pages are recognised by the first one.
    """
    readings, *_ = _look(_sort(RawFile.from_frame(tables["files"]))[0], params, context)
    store = PageStore(context.store, params)
    _read_text(readings, store, context)
    if params.engine is EngineName.VISION:
        return len(store.missing(store.first, [job for job in store.unrecognised(readings) if not job.boxes]))
    if store.second is None or params.second is not EngineName.VISION:
        return 0
    _read(readings, store, context)
    store.learn(readings)
    return len(store.missing(store.second, store.doubtful(readings)))


def _sort(files: Iterator[RawFile]) -> tuple[list[RawFile], dict[str, str]]:
    """Return the files to read, and the others by name with the earlier document that has the same bytes."""
    seen, duplicates = dict[str, RawFile](), dict[str, str]()
    for file in sorted(files, key=lambda file: file.document):
        if file.document != MANIFEST and seen.setdefault(file.sha256, file) is not file:
            duplicates[file.document] = seen[file.sha256].document
    return list(seen.values()), duplicates


def _look(
    files: Sequence[RawFile], params: OcrParams, context: Context
) -> tuple[list[DocumentState], list[Rejection], list[str]]:
    """Open every file in a worker, where a hostile one can do no harm. Return documents, rejects, notes."""
    by_name = {file.document: file for file in files}
    readings, rejects, tasks = list[DocumentState](), list[Rejection](), list[FileTask]()
    for name in by_name:
        try:
            tasks.append(FileTask(name, locate(context.raw, context.build, name), params))
        except UnreadableDocument as error:
            rejects.append(_rejection(name, Failure(error.reason, error.detail)))
    with context.progress(len(tasks), "files") as advance:
        for task, facts in context.map(inspect_file, tasks, timeout=_HANG * params.page_timeout):
            advance(1)
            if isinstance(facts, Failure):
                rejects.append(_rejection(task.document, facts))
            else:
                readings.append(DocumentState(by_name[task.document], task.path, facts))
    lost = FileFacts("image", 1, None)
    failed = {one.item_id: {1: Failure(one.reason, one.detail)} for one in rejects}
    broken = [DocumentState(by_name[name], context.raw / name, lost, why) for name, why in failed.items()]
    readings.sort(key=lambda reading: reading.name)
    documents, notes = join_pictures(readings, broken, params, context.build)
    return documents, rejects, notes


def _rejection(document: str, failure: Failure) -> Rejection:
    return Rejection(item_id=document, stage="ocr", reason=failure.reason, detail=failure.detail)


def _read(readings: Sequence[DocumentState], store: PageStore, context: Context) -> None:
    """Read text layers, and recognise what needs OCR: whole pages, or lines with lost characters.

    Lines keep what the text layer says where their recognition fails; pages are lost.
    """
    _read_text(readings, store, context)
    jobs = store.unrecognised(readings)
    _recognise(store.first, [job for job in jobs if not job.boxes], store, context, required=True)
    _recognise(store.lines, [job for job in jobs if job.boxes], store, context, required=False)


def _read_text(readings: Sequence[DocumentState], store: PageStore, context: Context) -> None:
    """Read the text layers that are not in the store, in chunks; a chunk that fails is read page by page."""
    jobs = store.missing(store.text, (Job(reading, page) for reading in readings for page in reading.pages))
    params = store.text.params
    alone = params.model_copy(update={"text_timeout": _ALONE * params.text_timeout})
    work = _Work(store.text, store, context, jobs)
    with context.progress(len(jobs), "pages") as advance:
        work.carry_out(work.tasks(CHUNK), advance)
    again = [task for task in work.failed if len(task.pages) > 1]
    work.carry_out([replace(task, pages=(page,), params=alone) for task in again for page in task.pages])


def _recognise(by: Recognition, jobs: Sequence[Job], store: PageStore, context: Context, *, required: bool) -> bool:
    """Read what is not in the store; a page that fails is lost if ``required``. Return whether all were read."""
    if not (jobs := store.missing(by, jobs)):
        return True
    by.check()
    work = _Work(by, store, context, jobs, required)
    with context.progress(len(jobs), "pages (OCR)") as advance:
        work.carry_out(work.tasks(1), advance)
    return not work.failed


class _Work:
    """Pages to read by one way of reading. Those whose own task fails are lost where they are required."""

    def __init__(
        self, by: PageMethod, store: PageStore, context: Context, jobs: Sequence[Job], required: bool = True
    ) -> None:
        self._by, self._store, self._context, self._required = by, store, context, required
        self._jobs = {(job.reading.name, job.page): job for job in jobs}
        self.failed: list[PageTask] = []

    def tasks(self, most: int) -> list[PageTask]:
        """Return the tasks, of at most so many pages."""
        made = []
        for name, group in groupby(self._jobs.values(), key=lambda job: job.reading.name):
            own = list(group)
            for some in (own[start : start + most] for start in range(0, len(own), most)):
                about, pages, params = some[0].reading, tuple(job.page for job in some), self._by.params
                made.append(PageTask(name, about.path, about.facts.format, pages, params, some[0].boxes))
        return made

    def carry_out(self, tasks: Sequence[PageTask], advance: Callable[[int], object] = int) -> None:
        """Store what the tasks find."""
        for task, values in self._results(self._worth_trying(tasks)):
            advance(len(task.pages))
            jobs = [self._jobs[task.document, page] for page in task.pages]
            if not isinstance(values, Failure):
                self._store.put(self._by, jobs, values if isinstance(values, list) else [values])
                continue
            self.failed.append(task)
            if self._required and len(jobs) == 1:
                jobs[0].reading.failures[jobs[0].page] = values

    def _results(self, tasks: Iterator[PageTask]) -> Iterator[tuple[PageTask, Any]]:
        """Yield what is found; vision models are asked from here, everything else runs in workers."""
        params = self._by.params
        limit = _HANG * params.page_timeout
        if not isinstance(self._by, Recognition):
            return self._context.map(read_pages, tasks, timeout=limit)
        if params.engine is not EngineName.VISION:
            return self._context.map(recognise_page, tasks, timeout=limit)
        from build_dataset.pipeline.ocr.engines.vision import recognise_pages

        return recognise_pages(list(tasks), params.vision, self._context, limit)

    def _worth_trying(self, tasks: Sequence[PageTask]) -> Iterator[PageTask]:
        """The tasks, until so many pages of a paper have failed that it is given up.

        Further chunks of a paper of which one has failed are read page by page too. Where pages are recognised,
        reasons that another run may mend count alone: others were found in text layers.
        """
        fatal = _MENDABLE if isinstance(self._by, Recognition) else None
        for task in tasks:
            failures = self._jobs[task.document, task.pages[0]].reading.failures
            counted = [failure for failure in failures.values() if fatal is None or failure.reason in fatal]
            if len(task.pages) > 1 and any(task.document == other.document for other in self.failed):
                self.failed.append(task)
            elif len(task.pages) > 1 or len(counted) < GIVE_UP:
                yield task
            else:
                detail = counted[-1].detail.removeprefix(_NOT_TRIED)
                failures[task.pages[0]] = Failure(counted[-1].reason, f"{_NOT_TRIED}{detail}")


def _facts(tables: Tables, duplicates: Mapping[str, str], params: OcrParams) -> dict[str, Any]:
    pages = list(Page.from_frame(tables["pages"]))
    methods = Counter(page.method.value for page in pages)
    reasons = Counter(page.reason.partition(":")[0] for page in pages if page.reason)
    blank = [page for page in pages if page.method is ReadMethod.BLANK and page.reason != "no_content"]
    seen = ((page, page.confidence) for page in pages if page.confidence is not None)
    unsure = [(page, confidence) for page, confidence in seen if confidence < LOW_CONFIDENCE]
    return {
        "documents_by_format": dict(sorted(Counter(tables["documents"]["format"]).items())),
        "pages_by_method": dict(sorted(methods.items())),
        "pages_by_reason": dict(sorted(reasons.items())),
        "pages_lost": [f"{page.document}#{page.page}: {page.reason}" for page in blank],
        "pages_of_low_confidence": [f"{page.document}#{page.page}: {sure:.2f}" for page, sure in unsure],
        "duplicate_files": duplicates,
        "ocr_engine": engines.ChosenEngine(params).name.value if methods[ReadMethod.OCR.value] else None,
    }


def _notes(facts: Mapping[str, Any]) -> Iterator[str]:
    if same := [f"{name} of {first}" for name, first in facts["duplicate_files"].items()]:
        yield f"merged, since they have the bytes of others: {_some(same)}"
    if lost := facts["pages_lost"]:
        yield f"{len(lost)} pages could not be read and are blank: {_some(lost)}"
    if doubtful := facts["pages_of_low_confidence"]:
        yield f"{len(doubtful)} pages were read with low confidence: {_some(doubtful)}"


def _some(items: list[str]) -> str:
    return ", ".join(items[:3]) + (" …" if len(items) > 3 else "")
