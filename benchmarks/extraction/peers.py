"""Rules that others read answers by: from their packages, CMB's written out from its description.

Each takes a text and its options and gives letters, several ones only where several answers may be right. The packages
are read without what they depend on: ``pip install --no-deps lm-eval opencompass``.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Mapping
from functools import cache
from importlib.metadata import PackageNotFoundError, files
from types import ModuleType
from typing import Any

Rule = Callable[..., str]
_LETTER = "[A-G]"


def cmb(text: str, options: Mapping[str, str], *, several: bool) -> str:  # noqa: ARG001 - every rule's form
    """CMB: the letters after 答案是 and its like up to the sentence's end, else every capital A to G of the text.

    Where one answer is asked for, the first of them.
    """
    stated = re.search(r"(?:答案[:：是为]|正确选项为|选)\s*(.*?)(?:。|\n|$)", text, re.DOTALL)
    letters = (re.findall(_LETTER, stated[1]) if stated else []) or re.findall(_LETTER, text)
    return "".join(sorted(set(letters))) if several else "".join(letters[:1])


class _Anything:
    """Stands for what a package's file imports or registers itself with; returns what it decorates."""

    def __getattr__(self, name: str) -> Any:
        return _Anything()

    def __call__(self, *_: Any, **__: Any) -> Any:
        return lambda decorated: decorated


@cache
def _file(package: str, path: str, *stubs: str) -> dict[str, Any]:
    """The names of one file of an installed package, with modules that it needs for other ends stubbed."""
    for name in stubs:
        stub = ModuleType(name)
        stub.__getattr__ = lambda attribute: object if attribute == "Filter" else _Anything()  # type: ignore[method-assign]
        sys.modules.setdefault(name, stub)
    try:
        found = next(file for file in files(package) or () if str(file) == path)
    except PackageNotFoundError:
        raise SystemExit(f"{package} is not here: pip install --no-deps opencompass lm-eval") from None
    names: dict[str, Any] = {"__name__": path}
    exec(compile(found.read_text(encoding="utf-8"), path, "exec"), names)
    return names


def opencompass(text: str, options: Mapping[str, str], *, several: bool) -> str:
    """OpenCompass: ``first_option_postprocess``, and ``multiple_select_postprocess`` as its CMB has it."""
    rules = _file("opencompass", "opencompass/utils/text_postprocessors.py", "opencompass", "opencompass.registry")
    if several:
        return str(rules["multiple_select_postprocess"](text))
    return str(rules["first_option_postprocess"](text, "".join(options)))


def lm_eval(text: str, options: Mapping[str, str], *, several: bool) -> str:  # noqa: ARG001 - every rule's form
    """lm-evaluation-harness: ``MultiChoiceRegexFilter`` as its zero-shot tasks set it; it knows one answer only."""
    stubs = ("lm_eval", "lm_eval.api", "lm_eval.api.filter", "lm_eval.api.registry")
    rule = _file("lm_eval", "lm_eval/filters/extraction.py", *stubs)["MultiChoiceRegexFilter"]
    asked = rule(regex_pattern=r"(\([A-Z]\))", ignore_case=True, ignore_punctuation=True, group_select=-1)
    found = asked.apply([[text]], [{"choices": list(options.values())}])[0][0]
    return re.sub(r"[^A-Z]", "", found) if found != "[invalid]" else ""
