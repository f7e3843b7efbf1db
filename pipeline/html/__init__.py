"""Self-contained HTML pages: one look, dark and light, no request to anywhere, text escaped."""

from __future__ import annotations

import base64
from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from jinja2 import Environment

_POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src 'unsafe-inline'"


def render(template: str, /, **values: Any) -> bytes:
    """A page from a template that extends ``page.html``, in UTF-8.

    Args:
        template: ``package:name``; the template lies in the package's folder ``templates``.
        values: what the template shows. Everything is escaped, also in scripts by ``|tojson``; what is
            markup already (our own figures) is wrapped in ``markupsafe.Markup`` by the caller.
    """
    package, _, name = template.partition(":")
    return _environment(package).get_template(name).render(policy=_POLICY, **values).encode()


def data_uri(content: bytes, media_type: str) -> str:
    """An image inside the page."""
    return f"data:{media_type};base64,{base64.b64encode(content).decode()}"


@cache
def _environment(package: str) -> Environment:
    from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined

    loaders = [PackageLoader(name) for name in dict.fromkeys((package, "pipeline.html"))]
    return Environment(
        loader=ChoiceLoader(loaders),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
