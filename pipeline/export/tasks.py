"""Task files for the tools that researchers evaluate with: the same questions, prompts and answers as ``evaluate``."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from importlib.resources import files
from string import Template

import polars as pl

from pipeline.evaluate.prompting import Template as Prompts
from pipeline.evaluate.prompting import is_multiple, load_template, messages
from pipeline.evaluate.scoring import accepted
from schemas.dataset import DatasetParams
from schemas.release import ReleaseRow

TASKS: Mapping[str, Mapping[str, str]] = {
    "lm-eval": {"lm_eval/{name}.yaml": "lm_eval.yaml", "lm_eval/{name}.py": "lm_eval.py"},
    "inspect": {"inspect/{name}.py": "inspect.py"},
    "opencompass": {"opencompass/{name}.py": "opencompass.py"},
    "lighteval": {"lighteval/{name}.py": "lighteval.py"},
}
"""The files that each tool wants, by path under ``tasks/``, and what they are made from in ``handover/``."""
_FEWSHOT = "fewshot_split: validation\nfewshot_config:\n  sampler: first_n\n"
_SHOTS = 3
"""Worked examples of OpenCompass's task with examples, as in CMB: its configurations cannot ask for another number."""
_MAX_TOKENS = 1024
"""Most tokens of an answer in text, as ``evaluate`` has it."""


def task_files(
    dataset: DatasetParams, splits: Mapping[str, pl.DataFrame], wanted: tuple[str, ...]
) -> dict[str, bytes]:
    """Return the files by path, with the questions that all of them read; none where no tool is wanted."""
    if not wanted:
        return {}
    rows = {name: list(ReleaseRow.from_frame(frame)) for name, frame in splits.items() if frame.height}
    prompts = load_template("answer_only")
    made = {f"tasks/questions/{name}.jsonl": _questions(prompts, split) for name, split in rows.items()}
    letters = {option.label for split in rows.values() for row in split for option in row.options}
    values = {
        "name": task_name(dataset.name),
        "title": re.sub(r'[\s"\\]+', " ", dataset.title or dataset.name),
        "version": dataset.version,
        "choices": ", ".join(f'"{letter}": "{{prompt}}\\n{letter}"' for letter in sorted(letters)),
        "max_tokens": str(_MAX_TOKENS),
        "fewshot": _FEWSHOT if "validation" in rows else "",
    }
    for tool in wanted:
        made |= _filled(tool, values)
    if "opencompass" in wanted and "test" in rows:
        # Its configurations may run no code, so that the questions with one answer get files of their own.
        single = {name: [row for row in split if not is_multiple(row)] for name, split in rows.items()}
        made[f"tasks/opencompass/{values['name']}.jsonl"] = _questions(prompts, single["test"])
        if examples := single.get("validation", [])[:_SHOTS]:
            name = f"{values['name']}_{_SHOTS}shot"
            made[f"tasks/opencompass/{name}.jsonl"] = _questions(prompts, single["test"], examples)
            made |= _filled("opencompass", values | {"name": name})
    return made


def _filled(tool: str, values: Mapping[str, str]) -> dict[str, bytes]:
    """Return a tool's files from their templates."""
    folder = files("pipeline.export") / "handover"
    return {
        f"tasks/{path.format(**values)}": Template((folder / f"{source}.tmpl").read_text(encoding="utf-8"))
        .substitute(values)
        .encode()
        for path, source in TASKS[tool].items()
    }


def task_name(name: str) -> str:
    """Return the dataset's name as the name of a Python module."""
    found = re.sub(r"\W+", "_", name, flags=re.ASCII).strip("_").lower()
    return found if found and not found[0].isdigit() else f"exam_{found}".rstrip("_")


def _questions(prompts: Prompts, rows: list[ReleaseRow], examples: Sequence[ReleaseRow] = ()) -> bytes:
    """Return the questions with a key, one JSON object a line, as ``evaluate`` puts them, after worked examples."""
    lines = []
    head = "".join(f"{asked}\n{target}\n\n" for asked, target in (_turns(prompts, row) for row in examples))
    for row in rows:
        if not accepted(row) or not row.answer:
            continue
        asked, target = _turns(prompts, row)
        item = {
            "id": row.question_id,
            "prompt": head + asked,
            "letters": [option.label for option in row.options],
            "answer": "".join(row.answer),
            "accepted": sorted("".join(sorted(answer)) for answer in accepted(row)),
            "several": is_multiple(row),
            "options": {option.label: option.text for option in row.options},
            "target": target,
        }
        lines.append(json.dumps(item, ensure_ascii=False) + "\n")
    return "".join(lines).encode()


def _turns(prompts: Prompts, row: ReleaseRow) -> tuple[str, str]:
    """A question as it is asked, and its answer as a worked example gives it."""
    asked, target = (turn["content"] for turn in messages(prompts, row, [row])[-3:-1])
    return asked, target
