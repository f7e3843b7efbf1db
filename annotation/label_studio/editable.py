"""A question as text that a person can edit, and what was changed in it. Pure."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass

from schemas.questions import Question

STEM, SHARED, ANSWER, VERDICT = "stem", "shared_stem", "answer", "verdict"
OPTION = "option:"
_SHARED_HEAD, _STEM_HEAD = "【共用题干】", "【题干】"
_LABEL = re.compile(r"^\s*([A-K])\s*[.．、:：]\s*(.*)$")


class UnreadableTextError(ValueError):
    """An edited text is not a question any more."""


@dataclass(frozen=True)
class Base:
    """What a person saw when correcting, as it travels through the screen and back."""

    content_hash: str
    text: str
    key: str

    def dumps(self) -> str:
        """As one line."""
        return json.dumps([self.content_hash, self.text, self.key], ensure_ascii=False)

    @classmethod
    def loads(cls, line: str) -> Base | None:
        """From that line; None where it is none."""
        try:
            content_hash, text, key = json.loads(line)
        except (ValueError, TypeError):
            return None
        return cls(str(content_hash), str(text), str(key))


def base_of(question: Question) -> Base:
    """What is shown of a question for correction."""
    return Base(question.content_hash, text_of(question), "".join(question.answer or []))


def text_of(question: Question) -> str:
    """Stem and options; the case that several questions share stands before, under a head."""
    lines = []
    if question.shared_stem:
        lines += [f"{_SHARED_HEAD}{question.shared_stem}", f"{_STEM_HEAD}{question.stem}"]
    else:
        lines.append(question.stem)
    lines += [f"{option.label}. {option.text}" for option in question.options]
    return "\n".join(lines)


def fields_of(text: str) -> dict[str, str]:
    """The fields of an edited text by name, in order.

    The options are the last run of lines that begin with A, B, C …; a line that begins with no label goes on
    with what is above it.

    Raises:
        UnreadableTextError: there are no options, or no stem.
    """
    lines = text.replace("\r\n", "\n").strip().split("\n")
    begin = _first_option(lines)
    if begin is None:
        raise UnreadableTextError("no options A, B … at the beginning of lines")
    fields = _head("\n".join(lines[:begin]))
    label = ""
    for line in lines[begin:]:
        found = _LABEL.match(line)
        following = chr(ord(label[-1]) + 1) if label else "A"
        if found and found[1] == following:
            label = f"{OPTION}{found[1]}"
            fields[label] = found[2].strip()
        else:
            fields[label] = f"{fields[label]}\n{line.strip()}".strip()
    empty = [name for name, value in fields.items() if not value]
    if empty:
        raise UnreadableTextError(f"no text at {', '.join(empty)}")
    return fields


def key_of(text: str) -> str:
    """The letters of a key, in order and once each.

    Raises:
        UnreadableTextError: it holds something else.
    """
    letters = re.sub(r"[\s,，、;；]+", "", unicodedata.normalize("NFKC", text)).upper()
    if not re.fullmatch(r"[A-K]+", letters):
        raise UnreadableTextError(f"{text.strip()[:40]!r} is no key: letters such as B or ACD are")
    return "".join(sorted(set(letters)))


def changes(before: Mapping[str, str], after: Mapping[str, str]) -> dict[str, tuple[str | None, str | None]]:
    """(before, after) by field, of fields that differ in more than white space."""
    names = dict.fromkeys((*before, *after))
    return {
        name: (before.get(name), after.get(name))
        for name in names
        if _bare(before.get(name)) != _bare(after.get(name))
    }


def _bare(text: str | None) -> str | None:
    return None if text is None else re.sub(r"\s+", "", text)


def _first_option(lines: list[str]) -> int | None:
    """Where the last run A, B … begins."""
    for place in range(len(lines) - 1, -1, -1):
        found = _LABEL.match(lines[place])
        if found and found[1] == "A":
            return place
    return None


def _head(text: str) -> dict[str, str]:
    shared, mark, stem = text.partition(_STEM_HEAD)
    if not mark:
        stem, shared = text, ""
    stem, shared = stem.strip(), shared.strip().removeprefix(_SHARED_HEAD).strip()
    if not stem:
        raise UnreadableTextError("no stem before the options")
    return {SHARED: shared, STEM: stem} if shared else {STEM: stem}
