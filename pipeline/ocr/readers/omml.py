"""Formulas of Word documents (Office Math Markup, ECMA-376 part 1, 22.1) as linear text: ½mv², (a+b)/c, √(x²+1).

Raised and lowered characters are Unicode's where it has them, else behind ^ and _. What is not understood makes the
formula unread: a question with an empty place in it would look whole.
"""

from collections.abc import Callable
from typing import Any

from build_dataset.pipeline.ocr import glyphs
from build_dataset.pipeline.ocr.readers.docx_numbering import W
from build_dataset.pipeline.patterns import Patterns

_P = Patterns(__name__)
M = "{http://schemas.openxmlformats.org/officeDocument/2006/math}"
_ACCENTS = {"\u0302", "\u0303", "\u0304", "\u0305", "\u0307", "\u0308", "\u030c", "\u20d7"}


class Unread(Exception):  # noqa: N818 - it is caught beside where it is raised
    """A part of a formula that is not understood."""


def linearise(formula: Any) -> str | None:
    """The text of an ``m:oMath`` element; None where a part of it is not understood, or nothing is in it."""
    try:
        return _content(formula).strip() or None
    except (Unread, RecursionError):
        return None


def _content(element: Any) -> str:
    """The text of all parts; a fraction beside a letter, digit or bracket gets brackets: (1/2)mv², not 1/2mv²."""
    parts = [(str(child.tag) == f"{M}f", text) for child in element if (text := _part(child))]
    said = ""
    for index, (fraction, text) in enumerate(parts):
        after = parts[index + 1][1] if index + 1 < len(parts) else ""
        beside = _P.factor.match(said[-1:]) or _P.factor.match(after[:1])
        said += f"({text})" if fraction and beside else text
    return said


def _part(element: Any) -> str:
    if not isinstance(element.tag, str):  # a comment
        return ""
    name = element.tag.removeprefix(M)
    if _P.passed_through.fullmatch(name):
        return _content(element)
    if name in _FORMS:
        return _FORMS[name](element)
    if element.tag in (f"{M}r", f"{W}r"):
        return _run(element)
    if name.endswith("Pr") or element.tag in (f"{W}bookmarkStart", f"{W}bookmarkEnd", f"{W}proofErr"):
        return ""
    if element.tag == f"{W}ins":
        return _content(element)
    raise Unread(name)


def _run(element: Any) -> str:
    parts = [child for child in element if not str(child.tag).endswith("Pr")]
    if any(child.tag not in (f"{M}t", f"{W}t", f"{W}tab", f"{W}br") for child in parts):
        raise Unread("a picture or a symbol in a run")
    return "".join(child.text or " " for child in parts)


def _of(element: Any, name: str) -> str:
    """The text of a named part; nothing where it is absent."""
    found = element.find(f"{M}{name}")
    return "" if found is None else _content(found).strip()


def _value(element: Any, name: str, default: str) -> str:
    """A property's ``m:val``: the sign of a sum, the bracket of a delimiter."""
    found = next(element.iterchildren(f"{element.tag}Pr"), None)
    child = None if found is None else found.find(f"{M}{name}")
    return default if child is None else str(child.get(f"{M}val", ""))


def _bracketed(text: str) -> str:
    return text if _P.tight.fullmatch(text) else f"({text})"


def _scripts(element: Any) -> str:
    """Return what is lowered and raised beside a base."""
    return _behind("_", _of(element, "sub")) + _behind("^", _of(element, "sup"))


def _behind(mark: str, text: str) -> str:
    """A raised (^) or lowered (_) text, in characters of that kind where it has them."""
    return glyphs.in_script(text, mark) or (f"{mark}({text})" if len(text) > 1 else mark * len(text) + text)


def _scripted(element: Any) -> str:
    """A base with its scripts; ``sPre`` has them before it."""
    scripts, base = _scripts(element), _of(element, "e")
    return scripts + base if element.tag == f"{M}sPre" else base + scripts


def _root(element: Any) -> str:
    degree = _of(element, "deg")
    sign = {"": "√", "2": "√", "3": "∛", "4": "∜"}.get(degree) or f"{_behind('^', degree)}√"
    return f"{sign}{_bracketed(_of(element, 'e'))}"


def _delimited(element: Any) -> str:
    inside = _value(element, "sepChr", "|").join([_content(part).strip() for part in element.findall(f"{M}e")])
    return f"{_value(element, 'begChr', '(')}{inside}{_value(element, 'endChr', ')')}"


def _limited(element: Any) -> str:
    """Return what has a text above or below it: lim, an arrow of a reaction with its conditions."""
    mark = "_" if element.tag == f"{M}limLow" else "^"
    return f"{_of(element, 'e')}{mark}({_of(element, 'lim')})"


def _accented(element: Any) -> str:
    sign = _value(element, "chr", "\u0302") if element.tag == f"{M}acc" else "\u0305"
    base = _of(element, "e")
    if sign not in _ACCENTS or not base or (len(base) > 1 and sign != "\u0305"):
        raise Unread("an accent")
    return "".join(char + sign for char in base)


def _rows(element: Any) -> str:
    cells = [[_content(cell).strip() for cell in row.findall(f"{M}e")] for row in element.findall(f"{M}mr")]
    return "; ".join([", ".join(row) for row in cells] or [_content(row).strip() for row in element.findall(f"{M}e")])


_FORMS: dict[str, Callable[[Any], str]] = {
    **dict.fromkeys(("sSup", "sSub", "sSubSup", "sPre"), _scripted),
    **dict.fromkeys(("limLow", "limUpp"), _limited),
    **dict.fromkeys(("acc", "bar"), _accented),
    **dict.fromkeys(("m", "eqArr"), _rows),
    "f": lambda element: f"{_bracketed(_of(element, 'num'))}/{_bracketed(_of(element, 'den'))}",
    "rad": _root,
    "d": _delimited,
    "nary": lambda element: f"{_value(element, 'chr', '∫')}{_scripts(element)} {_of(element, 'e')}",  # sums, integrals
    "func": lambda element: f"{_of(element, 'fName')} {_of(element, 'e')}",
}
