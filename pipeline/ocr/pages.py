"""Stored results of pages: found by key, put the moment they arrive."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from pipeline.characters import UNREADABLE
from pipeline.ocr import engines
from pipeline.ocr.assemble import Reading
from pipeline.ocr.keys import ocr_key, text_key
from pipeline.ocr.mending import lost_lines, mended
from pipeline.ocr.model import PageRead, Rect
from pipeline.ocr.params import OcrParams
from pipeline.ocr.readers import reader
from pipeline.ocr.recognise import to_page
from pipeline.stage import Store
from schemas.documents import ReadMethod
from schemas.errors import UserError

_LOST = re.compile(UNREADABLE)


class PageStore:
    """The item store of the stage, by document and page number."""

    def __init__(self, store: Store, params: OcrParams) -> None:
        self._store = store
        self._params = params
        self._semantic = engines.semantic(params)
        self._engine = engines.chosen(params).name.value
        self._version = engines.version(params)
        self._states: dict[str, tuple[int, int]] = {}

    def _text_key(self, reading: Reading, page: int) -> str:
        params, version = self._params, getattr(reader(reading.facts.format), "version", "")
        return text_key(reading.file.sha256, page, params.force_ocr, params.max_pixels, version)

    def _ocr_key(self, reading: Reading, page: int, boxes: Boxes = ()) -> str:
        part = {"boxes": [[round(edge, 2) for edge in box] for box in boxes]} if boxes else {}
        return ocr_key(reading.file.sha256, page, {**self._semantic, **part}, self._version)

    def unread(self, reading: Reading) -> list[int]:
        """Pages of which nothing is stored."""
        self._states[reading.name] = _state(reading)
        keys = {page: self._text_key(reading, page) for page in reading.pages}
        found = self._store.get_many(keys.values())
        return [page for page, key in keys.items() if key not in found]

    def unrecognised(self, reading: Reading) -> dict[int, Boxes]:
        """Pages of which something is to be recognised that is not stored: some lines, or (none named) everything."""
        keys = {page: self._text_key(reading, page) for page in reading.pages}
        found = self._store.get_many(keys.values())
        values = {page: found[key] for page, key in keys.items() if key in found}
        needed = {
            page: _lost_boxes(value)
            for page, value in values.items()
            if "needs_ocr" in value or _lost_boxes(value)
        }
        done = self._store.get_many([self._ocr_key(reading, page, boxes) for page, boxes in needed.items()])
        return {
            page: boxes for page, boxes in needed.items() if self._ocr_key(reading, page, boxes) not in done
        }

    def put_text(self, reading: Reading, pages: Sequence[int], values: Sequence[dict[str, Any]]) -> None:
        """Keep what ``tasks.read_pages`` said of pages.

        Raises:
            UserError: the file changed since it was listed: what was read is not what its hash stands for.
        """
        self._require_unchanged(reading)
        for page, value in zip(pages, values, strict=True):
            self._store.put(self._text_key(reading, page), value)

    def put_recognised(self, reading: Reading, page: int, boxes: Boxes, value: dict[str, Any]) -> None:
        """Keep what ``tasks.recognise_page`` found; raises as ``put_text`` does."""
        self._require_unchanged(reading)
        self._store.put(self._ocr_key(reading, page, boxes), value)

    def _require_unchanged(self, reading: Reading) -> None:
        state = _state(reading)
        if state != self._states[reading.name] or state[0] != reading.file.bytes:
            raise UserError(f"{reading.path} changed while it was read: run the same command again")

    def page(self, reading: Reading, number: int) -> PageRead:
        """The page, laid out; blank with the reason when it could not be read."""
        failure = reading.failures.get(number)
        if failure is not None:
            reason = f"{failure.reason}: {failure.detail}"
            return PageRead(0.0, 0.0, ReadMethod.BLANK, self._engine, self._version, reason)
        value = self._store.get(self._text_key(reading, number))
        assert value is not None, "every page was read or has a failure"
        if "needs_ocr" not in value:
            boxes = _lost_boxes(value)
            read = PageRead.from_json(value)
            again = self._store.get(self._ocr_key(reading, number, boxes)) if boxes else None
            return mended(read, again["readings"] if again else [["", 0.0]] * len(boxes))
        found = self._store.get(self._ocr_key(reading, number))
        assert found is not None, "every page was recognised or has a failure"
        return to_page(found, value["needs_ocr"], self._engine, self._version)


Boxes = tuple[Rect, ...]


def _lost_boxes(value: dict[str, Any]) -> Boxes:
    """Where characters are lost on a stored page with a text layer."""
    if not any(_LOST.search(line[0]) for line in value.get("lines", ())):
        return ()
    lines = PageRead.from_json(value).lines
    return tuple(box for index in lost_lines(lines) if (box := lines[index].box) is not None)


def _state(reading: Reading) -> tuple[int, int]:
    """By which a file that changes is noticed: its size and the time of its last change."""
    try:
        found = reading.path.stat()
    except OSError:
        return 0, 0
    return found.st_size, found.st_mtime_ns
