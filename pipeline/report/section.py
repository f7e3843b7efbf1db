"""What a section of the page is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Section:
    """A part of the page.

    Its template ``templates/<name>.html`` shows ``values`` as ``it``.
    """

    name: str
    """Also the anchor in the page."""
    title: str
    chinese: str
    values: Mapping[str, Any]
    warnings: Sequence[str] = ()
    """What to know before trusting the result, one sentence each; all of them stand at the head of the page."""
    files: Mapping[str, bytes] = field(default_factory=dict)
    """Figures and tables beside the page, by path."""
