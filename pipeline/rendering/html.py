"""Self-contained HTML pages: one look, dark and light, no request to anywhere, text escaped."""

import base64
import re
from typing import Any

from markupsafe import Markup

from build_dataset.pipeline.rendering.figures import INK
from build_dataset.pipeline.rendering.markdown import environment

_POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src 'unsafe-inline'"
_VISIBLE = {code: chr(0x2400 + code) for code in range(0x20) if code not in (0x09, 0x0A)}
_VISIBLE |= dict.fromkeys((0x7F, *range(0x80, 0xA0)), "\ufffd")
_HIDDEN = (*range(0x200B, 0x2010), *range(0x202A, 0x202F), *range(0x2060, 0x206A), 0xFEFF)
_VISIBLE |= {code: f"‹U+{code:04X}›" for code in _HIDDEN}
"""Controls, zero-width characters and those that turn the direction of text: a person must see that they are there."""


def render(template: str, /, **values: Any) -> bytes:
    """Return a page from a template (``package:name``) that extends ``page.html``, all but ``Markup`` escaped."""
    package, _, name = template.partition(":")
    pages = environment(package, "build_dataset.pipeline.rendering", autoescape=True)
    page = pages.get_template(name).render(policy=_POLICY, **values)  # gaps are errors
    return page.translate(_VISIBLE).encode(errors="replace")


def inline(svg: bytes) -> Markup:
    """One of our own figures as part of a page, in the colour of its text; no XML head, no comments with names."""
    text = svg.decode().replace(INK, "currentColor")  # dark pages
    return Markup(re.sub(r"<!--.*?-->", "", text[text.index("<svg") :], flags=re.DOTALL))  # noqa: S704 - our own


def data_uri(content: bytes, media_type: str) -> str:
    """An image inside the page."""
    return f"data:{media_type};base64,{base64.b64encode(content).decode()}"
