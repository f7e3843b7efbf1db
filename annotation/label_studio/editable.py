"""A question as text that a person can edit, and what was changed in it. Pure."""

import json
import re
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Self

from rapidfuzz.distance import Postfix, Prefix

from build_dataset.schemas import annotations, grouping, questions
from build_dataset.schemas.places import OPTION

STEM, SHARED, ANSWER, EXPLANATION = "stem", "shared_stem", "answer", "explanation"  # names of fields in `Correction`
VERDICT = "verdict"
_AROUND = 8  # characters before and after a change, by which people find it
_SHARED_HEAD, _STEM_HEAD = "【共用题干】", "【题干】"  # stand in the text where a case is shared
_LABEL = re.compile(r"^\s*([A-K])\s*[.．、:：]\s*(.*)$")  # A. 甲, B、乙


class UnreadableTextError(ValueError):
    """An edited text is not a question any more."""


@dataclass(frozen=True)
class BaseText:
    """The text that a person saw when correcting; it travels through the screen and back."""

    content_hash: str
    text: str
    key: str
    explanation: str | None = None  # None where people see it and cannot edit it

    def dumps(self) -> str:
        """Return it as one line of JSON."""
        last = [] if self.explanation is None else [self.explanation]
        return json.dumps([self.content_hash, self.text, self.key, *last], ensure_ascii=False)

    @classmethod
    def loads(cls, line: str) -> Self | None:
        """Read it from that line; None if the line is no such text."""
        try:
            return cls(*map(str, json.loads(line)))
        except (ValueError, TypeError):
            return None


def base_text(question: questions.Question) -> BaseText:
    """Return the text of a question that is shown for correction."""
    return BaseText(question.content_hash, text_of(question), "".join(question.answer or []))


def whole_text(question: questions.Question) -> BaseText:
    """Return the text of a question of which everything can be corrected."""
    return replace(base_text(question), explanation=question.explanation or "")


def text_of(question: questions.Question) -> str:
    """Stem and options; the case that several questions share stands before, under a head."""
    fields = {SHARED: question.shared_stem or "", STEM: question.stem}
    return _text(fields | {f"{OPTION}{option.label}": option.text for option in question.options})


def with_proposals(base: BaseText, proposals: Iterable[annotations.Correction]) -> BaseText:
    """Return the text with people's proposals for it; a field with two different proposals stays unchanged."""
    proposed = ((each.field, each.after) for each in proposals if each.content_hash == base.content_hash)
    agreed = {name: after[0] for name, after in grouping.group_values(proposed).items() if len(set(after)) == 1}
    key = agreed.pop(ANSWER, None) or base.key
    try:
        fields = fields_of(base.text)
    except UnreadableTextError:
        return replace(base, key=key)
    changed = {name: agreed.get(name, fields.get(name)) for name in (*fields, *sorted(agreed))}
    return replace(base, key=key, text=_text({name: value for name, value in changed.items() if value}))


def replaced(base: BaseText, changes: Iterable[tuple[str, str, str]]) -> BaseText:
    """Return a text with places of its fields replaced: (field, what it says, what it is to say)."""
    fields = fields_of(base.text) | {ANSWER: base.key, EXPLANATION: base.explanation or ""}
    for name, before, after in changes:
        fields[name] = fields.get(name, "").replace(before, after, 1)
    key, explanation = fields.pop(ANSWER), fields.pop(EXPLANATION)
    return replace(base, text=_text(fields), key=key, explanation=explanation)


def changed_part(before: str | None, after: str | None) -> str:
    """Return a change without the equal text around it."""
    if not before or not after:
        return f"{before or '（无）'} → {after or '（删）'}"
    head = Prefix.similarity(before, after)
    begin, end = max(0, head - _AROUND), max(0, Postfix.similarity(before[head:], after[head:]) - _AROUND)
    parts = (text[begin : len(text) - end] for text in (before, after))
    return " → ".join(f"{'…' if begin else ''}{part}{'…' if end else ''}" for part in parts)


def fields_of(text: str) -> dict[str, str]:
    """The fields of an edited text by name, in order.

    The options are the last run of lines that begin with A, B, C …; a line that begins with no label goes on
    with what is above it. Raises ``UnreadableTextError`` where there are no options, or no stem.
    """
    lines = text.replace("\r\n", "\n").strip().split("\n")
    labels = map(_LABEL.match, lines)
    begin = max((place for place, label in enumerate(labels) if label and label[1] == "A"), default=None)
    if begin is None:
        raise UnreadableTextError("no options A, B … at the beginning of lines")
    head = "\n".join(lines[:begin])
    shared, mark, stem = head.partition(_STEM_HEAD)
    case = shared.strip().removeprefix(_SHARED_HEAD).strip() if mark else ""
    stem = (stem if mark else head).strip()
    if not stem:
        raise UnreadableTextError("no stem before the options")
    fields = {SHARED: case, STEM: stem} if case else {STEM: stem}
    label = ""
    for line in lines[begin:]:
        option = _LABEL.match(line)
        following = chr(ord(label[-1]) + 1) if label else "A"
        if option and option[1] == following:
            label = f"{OPTION}{option[1]}"
            fields[label] = option[2].strip()
        else:
            fields[label] = f"{fields[label]}\n{line.strip()}".strip()
    if empty := [name for name, value in fields.items() if not value]:
        raise UnreadableTextError(f"no text at {', '.join(empty)}")
    return fields


def key_letters(text: str) -> str:
    """Return the letters of a key, in order and once each; raise ``UnreadableTextError`` where it holds others."""
    letters = re.sub(r"[\s,，、;；]+", "", unicodedata.normalize("NFKC", text)).upper()
    if not re.fullmatch(r"[A-K]+", letters):
        raise UnreadableTextError(f"{text.strip()[:40]!r} is no key: letters such as B or ACD are")
    return "".join(sorted(set(letters)))


def changed_fields(before: Mapping[str, str], after: Mapping[str, str]) -> dict[str, tuple[str | None, str | None]]:
    """(before, after) by field, of fields that differ in more than white space between words."""
    pairs = {name: (before.get(name), after.get(name)) for name in (*before, *after)}
    return {name: (old, new) for name, (old, new) in pairs.items() if _bare(old) != _bare(new)}


def _text(fields: Mapping[str, str]) -> str:
    """Fields as a text to edit, of which ``fields_of`` is the inverse."""
    shared = fields.get(SHARED)
    lines = [f"{_SHARED_HEAD}{shared}", f"{_STEM_HEAD}{fields[STEM]}"] if shared else [fields[STEM]]
    options = [(name.removeprefix(OPTION), text) for name, text in fields.items() if name.startswith(OPTION)]
    return "\n".join([*lines, *(f"{label}. {text}" for label, text in options)])


def _bare(text: str | None) -> str | None:
    """Return a text without the white space that separates no words: frictionrub and friction rub differ."""
    return None if text is None else re.sub(r"(?<![0-9A-Za-z])\s+|\s+(?![0-9A-Za-z])", "", " ".join(text.split()))
