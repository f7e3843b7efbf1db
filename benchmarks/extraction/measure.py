"""Agreement of answer extraction with labels, beside others' rules: outputs that people judged, and our own.

    python -m benchmarks.extraction.measure [FOLDER]

Reads ``by_hand.jsonl``: 1,867 outputs in the manner of today's models, in simplified and traditional Chinese and
English, written and labelled by hand before they were read; rules are mended on one half only. FOLDER may hold
``thoughtsource_cot_dev.jsonl`` (``raw_output``, ``options``, ``answer``, and as ``flag`` whether the final answer was
right), ``gaokao_gpt4_explicit.jsonl`` (``truth``: the answer that stands there) and ``explaincpe_*.json``: questions
with ``options``, ``answer``, and per prompt variant ``*_response`` and ``*_judge`` (正确 or 错误). Prints one row a set
of outputs with one column a way of reading, and the disagreements with people that ``score`` would have.
"""

from __future__ import annotations

import json
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.extraction import peers
from build_dataset.pipeline.claims import read_claims
from build_dataset.pipeline.evaluate.extraction import Extraction, answers_first, extract

_HERE = Path(__file__).parent
_TESTS = Path(__file__).parents[2] / "tests" / "pipeline" / "evaluate"
_PEERS: dict[str, peers.Rule] = {"CMB's rule": peers.cmb}
for _package, _name, _rule in (
    ("opencompass", "OpenCompass's rule", peers.opencompass),
    ("lm_eval", "lm-evaluation-harness", peers.lm_eval),
):
    if find_spec(_package) is not None:
        _PEERS[_name] = _rule


class Output(NamedTuple):
    """An output, what it answers, and its label; of a judged one, ``right`` tells whether it answers the key."""

    source: str
    text: str
    options: dict[str, str]
    multiple: bool | None
    answer_first: bool | None
    stem: str | None
    key: str
    right: bool = True

    def read(self) -> Extraction:
        """Return what ``extract`` reads."""
        return extract(self.text, self.options, self.multiple, self.answer_first, stem=self.stem or None)

    def agrees(self, letters: str) -> bool:
        """Return whether the reading is the label, or leads to people's judgement."""
        return (letters == self.key) is self.right


def _lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def _judged(path: Path) -> Iterator[Output]:
    """Return the judged outputs of a file, each by itself and as score reads a run."""
    rows = []
    for item in json.loads(path.read_text(encoding="utf-8")):
        options = dict(zip("ABCDE", item["options"], strict=False))
        said = [(item[name], item[name.replace("_response", "_judge")]) for name in item if name.endswith("_response")]
        rows += [(text, options, item["answer"], judge == "正确") for text, judge in said]
    habit = answers_first((text, options) for text, options, _, _ in rows)
    for way, first in (("each by itself", None), ("as a run", habit)):
        for known, multiple in ((", one known", False), ("", None)):
            for text, options, key, right in rows:
                yield Output(f"{path.stem} {way}{known}", text, options, multiple, first, None, key, right)


def outputs(folder: Path | None) -> Iterator[Output]:
    """Return every labelled output."""
    for path, shown in ((_HERE / "by_hand", "by_hand_options"), (_TESTS / "extraction_cases", "extraction_options")):
        options = json.loads((path.parent / f"{shown}.json").read_text(encoding="utf-8"))
        for row in _lines(path.with_suffix(".jsonl")):
            source = f"{row['half']} {row['language']}" if "half" in row else "hard cases"
            about = row["multiple"], row.get("answer_first"), row.get("stem"), row["answer"] or ""
            yield Output(source, row["text"], options[row["options"]], *about)
    if folder is None:
        return
    for path in sorted(folder.glob("explaincpe_*.json")):
        yield from _judged(path)
    for row in _lines(folder / "thoughtsource_cot_dev.jsonl"):
        ends = "one option named at the end" if _names_one(row) else "others"
        source = f"chains of thought, {ends}"
        yield Output(source, row["raw_output"], row["options"], False, None, None, row["answer"], row["flag"])
    for row in _lines(folder / "gaokao_gpt4_explicit.jsonl"):
        for known, multiple in (("known", row["question_type"].startswith("多")), ("not known", None)):
            about = row["options"], multiple, None, row["question"], row["truth"]
            yield Output(f"explicit answers, type {known}", row["raw_output"], *about)


def _names_one(row: dict[str, Any]) -> bool:
    sentences = [part for part in re.split(r"(?<=[.!?])\s+|\n+", row["raw_output"].strip()) if part.strip()]
    mentions = read_claims(sentences[-1], row["options"], multiple=False).mentions if sentences else []
    return len({label for mention in mentions for label in mention.labels}) == 1


def main(folder: Path | None) -> None:
    """Print the table, and the disagreements with people."""
    ways: dict[str, Callable[[Output], str]] = {
        name: lambda row, rule=rule: rule(row.text, row.options, several=row.multiple is not False)  # type: ignore[misc]
        for name, rule in _PEERS.items()
    } | {"ours": lambda row: "".join(row.read().letters or ())}
    found: dict[str, dict[str, Counter[str]]] = {}
    disagreements = []
    for row in outputs(folder):
        for way, read in ways.items():
            letters = read(row)
            outcome = "right" if row.agrees(letters) else "wrong" if letters else "none"
            found.setdefault(row.source, {}).setdefault(way, Counter())[outcome] += 1
            if way == "ours" and outcome != "right" and row.source.endswith("as a run, one known"):
                disagreements.append(f"{row.source}: key {row.key}, {row.right}, read {letters or None}: {row.text!r}")
    print("Each cell: as labelled / of so many (a wrong letter, no letter)\n")
    print("| outputs | " + " | ".join(ways) + " |\n|---|" + "---:|" * len(ways))
    for source, columns in found.items():
        cells = (f"{n['right'] / n.total():.4f} / {n.total()} ({n['wrong']}, {n['none']})" for n in columns.values())
        print(f"| {source} | " + " | ".join(cells) + " |")
    print(*disagreements, sep="\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else None)
