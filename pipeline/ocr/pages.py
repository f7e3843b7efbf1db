"""Stored results of pages: found by key, put the moment they arrive."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

from pipeline.archives import is_copy
from pipeline.ocr import engines
from pipeline.ocr.assemble import DocumentState
from pipeline.ocr.mending import compared, lost_boxes, mended
from pipeline.ocr.model import PageRead, Rect
from pipeline.ocr.params import EngineName, OcrParams
from pipeline.ocr.readers import reader
from pipeline.ocr.scanpage import to_page
from pipeline.runtime.fingerprint import code_hash
from pipeline.stage import Store
from schemas.documents import ReadMethod
from schemas.errors import UserError
from schemas.identity import sha256

Boxes = tuple[Rect, ...]
"""Lines of a page that are read from their pictures; empty for all of the page."""


class Recognition:
    """An engine with its options: the part of a stored page's key that says what recognised it."""

    def __init__(self, params: OcrParams) -> None:
        self.params = params
        self.row = engines.chosen(params)

    @cached_property
    def version(self) -> str:
        """Versions of the engine, of what it runs on and of its models."""
        return engines.version(self.params)

    @cached_property
    def _options(self) -> str:
        return json.dumps(engines.semantic(self.params), sort_keys=True, ensure_ascii=False)

    def key(self, reading: DocumentState, page: int, boxes: Boxes) -> str:
        """Return the key of what the engine recognises on a page, or in boxes of it; layout comes later."""
        places = json.dumps([[round(edge, 2) for edge in box] for box in boxes])
        made_by = self.row.target.partition(":")[0], type(reader(reading.facts.format)).__module__
        code = map(code_hash, ("pipeline.ocr.recognise", *made_by))
        return sha256("ocr", reading.file.sha256, str(page), self._options, places, self.version, *code)

    def page(self, value: dict[str, Any], reason: str) -> PageRead:
        """Return a page that it recognised, laid out."""
        name, calibrated = self.row.name.value, self.row.calibrated
        return to_page(value, reason, name, self.version, calibrated=calibrated)


class PageStore:
    """The item store of the stage, by document and page number."""

    def __init__(self, store: Store, params: OcrParams) -> None:
        self._store = store
        self._params = params
        self.first = Recognition(params)
        self.second = (
            Recognition(params.model_copy(update={"engine": params.second})) if params.second else None
        )
        on_lines = {"engine": EngineName.AUTO} if params.engine is EngineName.VISION else {}
        self.lines = Recognition(params.model_copy(update=on_lines))
        """Vision models read pages, so lines are read by the embedded engine."""
        self._states: dict[str, tuple[int, int]] = {}

    def _text_key(self, reading: DocumentState, page: int) -> str:
        """Key of a page's text layer, or of the verdict that it needs OCR; ``max_pixels`` bounds what is looked at."""
        found, params = reader(reading.facts.format), self._params
        options = (str(page), str(params.force_ocr), str(params.max_pixels), getattr(found, "version", ""))
        return sha256("text", reading.file.sha256, *options, code_hash(type(found).__module__))

    def unread(self, reading: DocumentState) -> list[int]:
        """Pages of which nothing is stored."""
        self._states[reading.name] = _state(reading)
        found = self._texts(reading)
        return [page for page in reading.pages if page not in found]

    def _texts(self, reading: DocumentState) -> dict[int, dict[str, Any]]:
        keys = {page: self._text_key(reading, page) for page in reading.pages}
        found = self._store.get_many(keys.values())
        return {page: found[key] for page, key in keys.items() if key in found}

    def unrecognised(self, reading: DocumentState) -> dict[int, Boxes]:
        """Pages of which something is to be recognised that is not stored: some lines, or (none named) everything."""
        needed = {
            page: boxes
            for page, value in self._texts(reading).items()
            if (boxes := lost_boxes(value)) or "needs_ocr" in value
        }
        by = {page: self.lines if boxes else self.first for page, boxes in needed.items()}
        return self._missing(reading, needed, by)

    def doubtful(self, reading: DocumentState) -> dict[int, Boxes]:
        """Pages that the first engine is not sure of and the second one has not read."""
        if self.second is None:
            return {}
        pages = {
            number: self._first(reading, number) for number in reading.pages if number not in reading.failures
        }
        needed: dict[int, Boxes] = {number: () for number, page in pages.items() if self._is_doubtful(page)}
        return self._missing(reading, needed, dict.fromkeys(needed, self.second))

    def _is_doubtful(self, page: PageRead) -> bool:
        return page.confidence is not None and page.confidence < self._params.second_below

    def _missing(
        self, reading: DocumentState, needed: dict[int, Boxes], by: Mapping[int, Recognition]
    ) -> dict[int, Boxes]:
        keys = {page: by[page].key(reading, page, boxes) for page, boxes in needed.items()}
        done = self._store.get_many(keys.values())
        return {page: boxes for page, boxes in needed.items() if keys[page] not in done}

    def put_text(
        self, reading: DocumentState, pages: Sequence[int], values: Sequence[dict[str, Any]]
    ) -> None:
        """Keep what ``tasks.read_pages`` said of pages; a file that changed since it was listed is refused."""
        self._require_unchanged(reading)
        for page, value in zip(pages, values, strict=True):
            self._store.put(self._text_key(reading, page), value)

    def put_recognised(
        self, by: Recognition, reading: DocumentState, page: int, boxes: Boxes, value: dict[str, Any]
    ) -> None:
        """Keep what ``tasks.recognise_page`` found; raises as ``put_text`` does."""
        self._require_unchanged(reading)
        self._store.put(by.key(reading, page, boxes), value)

    def _require_unchanged(self, reading: DocumentState) -> None:
        state = _state(reading)
        listed = state[0] == reading.file.bytes or is_copy(reading.path)
        if state != self._states[reading.name] or not listed:
            raise UserError(f"{reading.path} changed while it was read: run the same command again")

    def page(self, reading: DocumentState, number: int) -> PageRead:
        """The page, laid out; blank with the reason when it could not be read."""
        page = self._first(reading, number)
        if self.second is None or not self._is_doubtful(page):
            return page
        found = self._store.get(self.second.key(reading, number, ()))
        return page if found is None else compared(page, self.second.page(found, ""))

    def _first(self, reading: DocumentState, number: int) -> PageRead:
        failure = reading.failures.get(number)
        if failure is not None:
            reason = f"{failure.reason}: {failure.detail}"
            return PageRead(0.0, 0.0, ReadMethod.BLANK, self.first.row.name.value, self.first.version, reason)
        value = self._store.get(self._text_key(reading, number))
        assert value is not None, "every page was read or has a failure"
        if "needs_ocr" not in value:
            boxes = lost_boxes(value)
            read = PageRead.from_json(value)
            again = self._store.get(self.lines.key(reading, number, boxes)) if boxes else None
            return mended(read, again["readings"] if again else [["", 0.0]] * len(boxes))
        found = self._store.get(self.first.key(reading, number, ()))
        assert found is not None, "every page was recognised or has a failure"
        return self.first.page(found, value["needs_ocr"])


def _state(reading: DocumentState) -> tuple[int, int]:
    """By which a file that changes is noticed: its size and the time of its last change."""
    try:
        found = reading.path.stat()
    except OSError:
        return 0, 0
    return found.st_size, found.st_mtime_ns
