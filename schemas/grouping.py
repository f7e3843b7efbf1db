"""Values by their keys."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

Key = TypeVar("Key")
Value = TypeVar("Value")


def group_values(pairs: Iterable[tuple[Key, Value]]) -> dict[Key, list[Value]]:
    """Return the values of each key, in their order; of an unknown key none."""
    groups: dict[Key, list[Value]] = defaultdict(list)
    for key, value in pairs:
        groups[key].append(value)
    return groups


def at_once(form: Callable[[str], str], texts: Sequence[str]) -> list[str]:
    """Return the forms of texts by one call, of a form that keeps NUL and changes no text for what stands beside it."""
    joined = form("\0".join(texts)).split("\0")
    return joined if len(joined) == len(texts) else [*map(form, texts)]
