"""Templates, numbers and texts in them: Markdown, YAML and HTML that text from papers cannot break out of."""

import base64
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from html import escape
from typing import Any

from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from build_dataset.annotation.llm.options import LlmOptions
from build_dataset.pipeline.rendering.figures import INK
from build_dataset.schemas.questions import SPLITS
from build_dataset.schemas.wording import counted, minute, tally_failures

# Signs that would be markup: *, |, a # or - that begins a line; "1." begins a list.
_SPECIAL = re.compile(r"[\\`*_\[\]|~$]|^[#+-]")
_LIST_ITEM = re.compile(r"^(\d{1,9})(?=[.)])")  # "1. x" and "2026) x" would begin a list
_NOT_IN_YAML = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff\ud800-\udfff]")


def text(value: object) -> str:
    """Plain text inside a paragraph or a table's cell: no markup, no HTML, no line break."""
    plain = escape(" ".join(str(value).split()), quote=False)  # line breaks would end a cell
    return _LIST_ITEM.sub(r"\1\\", _SPECIAL.sub(r"\\\g<0>", plain))


def number(value: float | None, places: int = 0) -> str:
    """A number with thousands marked; a dash where there is none."""
    return "–" if value is None else f"{value:,.{places}f}"


def percent(part: float, whole: float, places: int = 1) -> str:
    """A share in percent; a dash of nothing."""
    return f"{100 * part / whole:.{places}f} %" if whole else "–"


def code(value: object) -> str:
    """An inline code span with any content."""
    plain = " ".join(str(value).split()).replace("|", "\\|")
    longest = max((len(run) for run in re.findall("`+", plain)), default=0)  # `` a`b `` needs a longer fence
    fence = "`" * (longest + 1)
    pad = " " if plain.startswith("`") or plain.endswith("`") else ""  # a fence must not touch a backtick
    return f"{fence}{pad}{plain}{pad}{fence}"


def table(head: Sequence[str], rows: Iterable[Sequence[object]], left: int = 1) -> str:
    """A table whose cells are Markdown already; columns after the first ``left`` are aligned right."""
    rules = ("---" if column < left else "---:" for column in range(len(head)))
    lines = ["| " + " | ".join(head) + " |", "|" + "|".join(rules) + "|"]
    lines += ["| " + " | ".join(str(cell) for cell in row) + " |" for row in rows]
    return "\n".join(lines)


def scalar(value: Any) -> str:
    """A value as YAML: JSON, which YAML 1.2 contains, with what YAML readers trip over escaped."""
    return _NOT_IN_YAML.sub(lambda match: f"\\u{ord(match[0]):04x}", json.dumps(value, ensure_ascii=False))


def rendered(template: str, /, **values: Any) -> str:
    """Return a template (``package:name``, as of pages) with these values; the filters escape what is not ours."""
    package, _, name = template.partition(":")
    return environment(package).get_template(name).render(values)


def notes(package: str, **values: Any) -> list[str]:
    """Return a stage's lines for the user: ``notes.txt`` among the templates of its package."""
    return [line for line in rendered(f"{package}:notes.txt", **values).splitlines() if line]


def request_notes(
    failures: Sequence[tuple[str, str]], bill: Mapping[str, Any], options: LlmOptions, *, stage: str, lack: str
) -> list[str]:
    """Return the lines on requests to a model: what failed and why, other models that answered, money without use.

    ``failures`` are reason and detail of each question that ``lack`` describes.
    """
    return notes(
        "build_dataset.annotation",
        waiting=len(failures),
        lack=lack,
        stage=stage,
        section="annotate.llm" if stage == "annotate" else stage,
        reasons=tally_failures(failures),
        capped=any(reason == "spending_cap" for reason, _ in failures),
        bill=bill,
        asked=options.model,
        priced=options.price_in,
        currency=options.currency,
    )


@cache
def environment(*packages: str, **options: Any) -> Environment:
    """Return what renders the templates of packages, the first that has one; unknown names are errors."""
    loader = ChoiceLoader([PackageLoader(name) for name in dict.fromkeys(packages)])
    ours = {"undefined": StrictUndefined, "trim_blocks": True, "lstrip_blocks": True}
    rendering = Environment(loader=loader, **{**ours, **options})  # noqa: S701 - pages ask for autoescape
    rendering.globals |= {"table": table, "SPLITS": SPLITS}
    rendering.filters |= {"number": number, "percent": percent, "counted": counted, "minute": minute}
    rendering.filters |= {"text": text, "code": code, "scalar": scalar}
    return rendering


_POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src 'unsafe-inline'"
_VISIBLE = {code: chr(0x2400 + code) for code in range(0x20) if code not in (0x09, 0x0A)}
_VISIBLE |= dict.fromkeys((0x7F, *range(0x80, 0xA0)), "\ufffd")
_HIDDEN = (*range(0x200B, 0x2010), *range(0x202A, 0x202F), *range(0x2060, 0x206A), 0xFEFF)
_VISIBLE |= {code: f"‹U+{code:04X}›" for code in _HIDDEN}
"""Controls, zero-width characters and those that turn the direction of text: a person must see that they are there."""


def html_page(template: str, /, **values: Any) -> bytes:
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
