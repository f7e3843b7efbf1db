"""Stored results of pages: found by key, put the moment they arrive."""

import json
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import Any, NamedTuple

from build_dataset.pipeline.archives import is_copy
from build_dataset.pipeline.ocr.assemble import DocumentState
from build_dataset.pipeline.ocr.engines import ChosenEngine
from build_dataset.pipeline.ocr.language.counts import Language
from build_dataset.pipeline.ocr.language.decoding import sure_parts
from build_dataset.pipeline.ocr.mending import compare_readings, lost_boxes, mend_page
from build_dataset.pipeline.ocr.model import PageRead, Rect
from build_dataset.pipeline.ocr.params import EngineName, OcrParams
from build_dataset.pipeline.ocr.readers import reader
from build_dataset.pipeline.ocr.scanpage import to_page
from build_dataset.pipeline.runtime.fingerprint import code_hash
from build_dataset.pipeline.runtime.store import ItemStore
from build_dataset.schemas.documents import ReadMethod
from build_dataset.schemas.errors import UserError
from build_dataset.schemas.identity import sha256

_MOST = 3_000_000  # Characters of a folder that are learned: counting them takes two seconds


def _up_to(most: int, texts: Iterable[str]) -> Iterator[str]:
    """Yield the first texts, of so many characters together."""
    for text in texts:
        most -= len(text)
        if most < 0:
            return
        yield text


class Job(NamedTuple):
    """A page to read, or lines of it."""

    reading: DocumentState
    page: int
    boxes: tuple[Rect, ...] = ()  # Lines of the page that are read from their pictures; empty for all of the page


class TextLayerReader(NamedTuple):
    """Reads text layers, or finds that a page needs OCR."""

    params: OcrParams

    def key(self, job: Job) -> str:
        """Return the key of what is read, which names all that can change it; ``max_pixels`` bounds a look."""
        found, params = reader(job.reading.facts.format), self.params
        file, page = job.reading.origin(job.page)
        options = map(str, (page, params.force_ocr, params.max_pixels, getattr(found, "version", "")))
        return sha256("text", file, *options, code_hash(type(found).__module__))


class Recognition(ChosenEngine):
    """Recognises pages, or lines of them, with an engine."""

    def key(self, job: Job) -> str:
        """Return the key of what is recognised; layout comes later."""
        options = json.dumps(self.semantic, sort_keys=True, ensure_ascii=False)
        places = json.dumps([[round(edge, 2) for edge in box] for box in job.boxes])
        made_by = self.module, type(reader(job.reading.facts.format)).__module__
        code = map(code_hash, ("build_dataset.pipeline.ocr.recognise", *made_by))
        file, page = job.reading.origin(job.page)
        return sha256("ocr", file, str(page), options, places, self.version, *code)

    def laid_out(self, value: dict[str, Any], reason: str, language: Language | None = None) -> PageRead:
        """Return a page that it recognised, laid out; with ``language``, unsure characters are decoded."""
        return to_page(value, reason, self.name.value, self.version, language)


PageMethod = TextLayerReader | Recognition  # A way of reading pages: by the text layer, or by an engine


class PageStore:
    """The item store of the stage, by document and page number."""

    def __init__(self, store: ItemStore, params: OcrParams) -> None:
        self._store = store
        self._least = params.second_below
        self._language: Language | None = None
        self.text = TextLayerReader(params)
        self.first = Recognition(params)
        self.second = Recognition(params.model_copy(update={"engine": params.second})) if params.second else None
        # Vision models read pages, so lines are read by the embedded engine.
        on_lines = {"engine": EngineName.AUTO} if params.engine is EngineName.VISION else {}
        self.lines = Recognition(params.model_copy(update=on_lines))

    def learn(self, readings: Sequence[DocumentState]) -> None:
        """Learn from the sound text of the folder what stands beside what, for the pages that were recognised."""
        if not any("needs_ocr" in self._text(reading, page) for reading in readings for page in reading.sound):
            return
        sure = (part for page in self._recognised(readings) for word in page for part in sure_parts(word))
        own, recognised = _up_to(_MOST, self._printed(readings)), _up_to(_MOST, sure)
        self._language = Language(own, recognised=recognised)

    def _printed(self, readings: Sequence[DocumentState]) -> Iterator[str]:
        for reading in readings:
            yield from (row.fields for row in reading.facts.rows or ())
            for page in reading.sound:
                yield from (line[0] for line in self._text(reading, page).get("lines", ()))

    def _recognised(self, readings: Sequence[DocumentState]) -> Iterator[list[list[Any]]]:
        jobs = (Job(reading, page) for reading in readings for page in reading.sound)
        keys = (self.first.key(job) for job in jobs if "needs_ocr" in self._text(job.reading, job.page))
        yield from (found["words"] for key in keys if (found := self._store.get(key)))

    def missing(self, by: PageMethod, jobs: Iterable[Job]) -> list[Job]:
        """Return those of the jobs, in their order, whose result is not stored."""
        left: list[Job] = []
        # Document by document: all values at once would fill the memory.
        for _, own in groupby(jobs, key=lambda job: job.reading.name):
            keys = {by.key(job): job for job in own}
            done = self._store.get_many(keys)
            left += [job for key, job in keys.items() if key not in done]
        return left

    def put(self, by: PageMethod, jobs: Iterable[Job], values: Iterable[dict[str, Any]]) -> None:
        """Keep what was read of pages; a ``UserError`` where the file has changed since it was listed."""
        for job, value in zip(jobs, values, strict=True):
            about, state = job.reading, job.reading.state_of_file()
            if state != about.state or not (state[0] == about.file.bytes or is_copy(about.path)):
                raise UserError(f"{about.path} changed while it was read: run the same command again")
            self._store.put(by.key(job), value)

    def unrecognised(self, readings: Sequence[DocumentState]) -> list[Job]:
        """Return what needs OCR: some lines of a page, or (none named) all of it."""
        texts = ((Job(one, page), self._text(one, page)) for one in readings for page in one.sound)
        jobs = ((job._replace(boxes=lost_boxes(value)), "needs_ocr" in value) for job, value in texts)
        return [job for job, whole in jobs if job.boxes or whole]

    def doubtful(self, readings: Sequence[DocumentState]) -> list[Job]:
        """Return the pages that the first engine is not sure of, where there is a second one."""
        jobs = (Job(one, page) for one in (readings if self.second else ()) for page in one.sound)
        sure = ((self._first(job.reading, job.page).confidence, job) for job in jobs)
        return [job for confidence, job in sure if confidence is not None and confidence < self._least]

    def page(self, reading: DocumentState, number: int) -> PageRead:
        """The page, laid out; blank with the reason when it could not be read."""
        page = self._first(reading, number)
        if self.second is None or page.confidence is None or page.confidence >= self._least:
            return page
        found = self._store.get(self.second.key(Job(reading, number)))
        return page if found is None else compare_readings(page, self.second.laid_out(found, ""))

    def _first(self, reading: DocumentState, number: int) -> PageRead:
        if failure := reading.failures.get(number):
            reason = f"{failure.reason}: {failure.detail}"
            return PageRead(0.0, 0.0, ReadMethod.BLANK, self.first.name.value, self.first.version, reason)
        value = self._text(reading, number)
        if "needs_ocr" not in value:
            boxes = lost_boxes(value)
            again = self._store.get(self.lines.key(Job(reading, number, boxes))) if boxes else None
            return mend_page(PageRead.from_json(value), again["readings"] if again else [["", 0.0]] * len(boxes))
        found = self._store.get(self.first.key(Job(reading, number)))
        assert found is not None, "every page was recognised or has a failure"
        return self.first.laid_out(found, value["needs_ocr"], self._language)

    def _text(self, reading: DocumentState, number: int) -> dict[str, Any]:
        """Return what the text layer of a page holds, or that the page needs OCR."""
        value: dict[str, Any] | None = self._store.get(self.text.key(Job(reading, number)))
        assert value is not None, "every page was read or has a failure"
        return value
