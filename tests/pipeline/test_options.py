"""Defaults and limits of all options are a promise: a dataset must not change because one of them moved.

After a change that is meant, and for new options, write the list anew: ``python -m tests.pipeline.test_options``.
"""

from pathlib import Path
from typing import Any

from build_dataset.pipeline.config import Config

LIST = Path(__file__).with_name("options.txt")
LIMITS = ("minimum", "exclusiveMinimum", "maximum", "exclusiveMaximum", "minLength", "maxLength", "minItems", "pattern")


def options() -> list[str]:
    """Return a line for each option: its class and name, default and limits."""
    return sorted(
        " ".join([f"{owner}.{name} = {field.get('default', '–')!r}", *_limits(field)])
        for owner, section in Config.model_json_schema()["$defs"].items()
        for name, field in section.get("properties", {}).items()
        if "$ref" not in field
    )


def _limits(field: dict[str, Any]) -> list[str]:
    forms = [field, *field.get("anyOf", ())]
    return [f"{key} {form[key]}" for form in forms for key in LIMITS if key in form]


def test_defaults_and_limits_are_those_of_the_list() -> None:
    promised = LIST.read_text(encoding="utf-8").splitlines()
    assert sorted(set(promised) - set(options())) == []


if __name__ == "__main__":
    LIST.write_text("\n".join(options()) + "\n", encoding="utf-8")
