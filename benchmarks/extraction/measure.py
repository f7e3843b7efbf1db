"""Agreement of answer extraction with people who judged raw outputs and with labelled hard cases, beside others' rules.

    python -m benchmarks.extraction.measure [FOLDER]

FOLDER holds ``explaincpe_*.json``: questions with ``options``, ``answer``, and per prompt variant ``*_response`` and
``*_judge`` (正确 or 错误). Prints one row a way of reading and one column a file, the disagreements of the reading that
``build-dataset score`` takes, and how many of our own hand-labelled cases each reads as labelled.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from benchmarks.extraction import peers
from pipeline.evaluate.extraction import answers_first, extract

_CASES = Path(__file__).parents[2] / "tests" / "pipeline" / "evaluate"
_PEERS = {
    "CMB's rule": peers.cmb,
    "OpenCompass's rule": peers.opencompass,
    "lm-evaluation-harness": peers.lm_eval,
}


@dataclass(frozen=True)
class Judged:
    """An output and what people made of it."""

    name: str
    text: str
    options: dict[str, str]
    key: str
    right: bool


Reading = Callable[[Judged], str]


def judged(path: Path) -> Iterator[Judged]:
    """Every judged output of a file."""
    for item in json.loads(path.read_text(encoding="utf-8")):
        options = dict(zip("ABCDE", item["options"], strict=False))
        for name in item:
            if name.endswith("_response"):
                right = item[name.replace("_response", "_judge")] == "正确"
                yield Judged(f"{item['id']} {name}", item[name], options, item["answer"], right)


def ours(output: Judged, multiple: bool | None, answer_first: bool | None) -> str:
    """What ``extract`` reads."""
    return "".join(extract(output.text, output.options, multiple, answer_first).letters or ())


def readings(multiple: bool | None, habit: bool | None) -> dict[str, Reading]:
    """The ways of reading that are compared."""
    others: dict[str, Reading] = {
        name: lambda output, rule=rule: rule(output.text, output.options, several=multiple is None)  # type: ignore[misc]
        for name, rule in _PEERS.items()
    }
    return others | {
        "ours, each text by itself": lambda output: ours(output, multiple, None),
        "ours, as a run (score, evaluate)": lambda output: ours(output, multiple, habit),
    }


def agreed(outputs: list[Judged], read: Reading) -> list[bool]:
    """Whether the reading of each output leads to people's judgement."""
    return [(read(output) == output.key) == output.right for output in outputs]


def against_people(folder: Path) -> None:
    """Print the table of agreement and the disagreements."""
    files = {path.stem: list(judged(path)) for path in sorted(folder.glob("explaincpe_*.json"))}
    habits = {name: answers_first((row.text, row.options) for row in rows) for name, rows in files.items()}
    print("| answers | read | " + " | ".join(files) + " | all |")
    print("|---|---|" + "---:|" * (len(files) + 1))
    for title, multiple in (("one, known", False), ("not known", None)):
        for way in readings(multiple, None):
            found = [agreed(rows, readings(multiple, habits[name])[way]) for name, rows in files.items()]
            shares = [sum(each) / len(each) for each in [*found, [one for each in found for one in each]]]
            print(f"| {title} | {way} | " + " | ".join(f"{share:.4f}" for share in shares) + " |")
    for title, multiple in (("one, known", False), ("not known", None)):
        for name, rows in files.items():
            for row in rows:
                read = ours(row, multiple, habits[name])
                if (read == row.key) != row.right:
                    told = "right" if row.right else "wrong"
                    print(f"{title}: {name} {row.name}: key {row.key}, judged {told}, read {read or None}")


def hard_cases() -> None:
    """Print how many hand-labelled cases each rule reads as labelled."""
    options: Mapping[str, Mapping[str, str]] = json.loads(
        (_CASES / "extraction_options.json").read_text(encoding="utf-8")
    )
    cases = [
        json.loads(line)
        for line in (_CASES / "extraction_cases.jsonl").read_text(encoding="utf-8").splitlines()
    ]
    print(f"\n| read | right of {len(cases)} hard cases |\n|---|---:|")
    for name, rule in _PEERS.items():
        right = sum(
            rule(case["text"], options[case["options"]], several=case["multiple"] is not False)
            == (case["answer"] or "")
            for case in cases
        )
        print(f"| {name} | {right} ({right / len(cases):.3f}) |")
    right = sum(
        "".join(
            extract(
                case["text"], options[case["options"]], case["multiple"], case.get("answer_first")
            ).letters
            or ()
        )
        == (case["answer"] or "")
        for case in cases
    )
    print(f"| ours | {right} ({right / len(cases):.3f}) |")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        against_people(Path(sys.argv[1]))
    hard_cases()
