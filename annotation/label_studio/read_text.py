"""What a person corrected in a question, read from the answer's fields. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from annotation.label_studio.editable import (
    ANSWER,
    OPTION,
    Base,
    UnreadableTextError,
    changes,
    fields_of,
    key_of,
)

Changes = dict[str, tuple[str | None, str | None]]


def text_in(item: Mapping[str, Any] | None) -> str | None:
    """The text of a text area's result; None where nothing was written."""
    value = (item or {}).get("value")
    text = value.get("text") if isinstance(value, Mapping) else None
    lines = [text] if isinstance(text, str) else text if isinstance(text, list) else []
    return "\n".join(str(line).strip() for line in lines).strip() or None


def base_in(item: Mapping[str, Any] | None, data: Mapping[str, Any]) -> Base | None:
    """What the person saw: as it came back with the answer, otherwise as the task has it now."""
    line = text_in(item) or data.get("base")
    return Base.loads(line) if isinstance(line, str) else None


def changed_text(text: str | None, base: Base) -> Changes:
    """Fields that differ from what was shown.

    Raises:
        UnreadableTextError: the text is no question any more.
    """
    if text is None or text.split() == base.text.split():
        return {}
    before, after = fields_of(base.text), fields_of(text)
    if sum(name.startswith(OPTION) for name in after) < 2:
        raise UnreadableTextError("fewer than two options are left")
    return changes(before, after)


def changed_key(text: str | None, base: Base) -> Changes:
    """The key, where it differs from what was shown.

    Raises:
        UnreadableTextError: it is no key.
    """
    if text is None:
        return {}
    key = key_of(text)
    labels = {line[:1] for line in base.text.split("\n")}
    if not set(key) <= labels:
        raise UnreadableTextError(f"the key {key} names an option that is not there")
    return {} if key == base.key else {ANSWER: (base.key or None, key)}
