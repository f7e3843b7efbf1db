"""Agreement of answer extraction with people who judged raw outputs and with labelled hard cases, beside others' rules.

    python -m benchmarks.extraction.measure [FOLDER]

Reads ``by_hand.jsonl``: 1,867 outputs in the manner of today's models, in simplified and traditional Chinese and
English, written and labelled by hand before they were read; rules are mended on one half only. FOLDER may hold
``thoughtsource_cot_dev.jsonl`` (``raw_output``, ``options``, ``answer``, and as ``flag`` whether the final answer was
right), ``gaokao_gpt4_explicit.jsonl`` (``truth``: the answer that stands there) and ``explaincpe_*.json``: questions
with ``options``, ``answer``, and per prompt variant ``*_response`` and ``*_judge`` (正确 or 错误). Prints one row a
way of reading, the disagreements of the reading that ``score`` takes, and how many of our own hand-labelled cases each
reads as labelled.
"""

from __future__ import annotations

import json
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from benchmarks.extraction import peers
from benchmarks.extraction.peers import Rule
from build_dataset.pipeline.claims import read_claims
from build_dataset.pipeline.evaluate.extraction import answers_first, extract

_HERE = Path(__file__).parent
_CASES = Path(__file__).parents[2] / "tests" / "pipeline" / "evaluate"
_PEERS: dict[str, Rule] = {"CMB's rule": peers.cmb}
for _package, _name, _rule in (
    ("opencompass", "OpenCompass's rule", peers.opencompass),
    ("lm_eval", "lm-evaluation-harness", peers.lm_eval),
):
    if find_spec(_package) is not None:
        _PEERS[_name] = _rule


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
    """Return the letters that ``extract`` reads."""
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
    """Tell of each output whether its reading leads to people's judgement."""
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
    cases = [json.loads(line) for line in (_CASES / "extraction_cases.jsonl").read_text(encoding="utf-8").splitlines()]
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
                case["text"],
                options[case["options"]],
                case["multiple"],
                case.get("answer_first"),
                stem=case.get("stem"),
            ).letters
            or ()
        )
        == (case["answer"] or "")
        for case in cases
    )
    print(f"| ours | {right} ({right / len(cases):.3f}) |")


def by_hand() -> None:
    """Print what each rule makes of the outputs of each half and language, wrong letters apart from missed ones."""
    options = json.loads((_HERE / "by_hand_options.json").read_text(encoding="utf-8"))
    rows = [json.loads(line) for line in (_HERE / "by_hand.jsonl").read_text(encoding="utf-8").splitlines()]
    groups = [(half, lang) for half in ("tune", "held_out") for lang in ("zh-Hans", "zh-Hant", "en", "all")]
    heads = [f"{half} {lang}" for half, lang in groups]
    print("\nEach cell: as labelled / of so many (a wrong letter, no letter)")
    print("\n| read | " + " | ".join(heads) + " |\n|---|" + "---:|" * len(groups))
    rules: dict[str, Rule] = {**_PEERS, "ours": _ours}
    for name, rule in rules.items():
        outcomes = []
        for row in rows:
            shown = options[row["options"]]
            several = row["multiple"] is not False
            got = _known(row, shown) if name == "ours" else rule(row["text"], shown, several=several)
            same = got == (row["answer"] or "")
            outcomes.append("right" if same else "wrong" if got else "none")
        cells = []
        for half, lang in groups:
            kept = [
                outcome
                for outcome, row in zip(outcomes, rows, strict=True)
                if row["half"] == half and lang in (row["language"], "all")
            ]
            count = Counter(kept)
            share = count["right"] / len(kept)
            cells.append(f"{share:.3f} / {len(kept)} ({count['wrong']}, {count['none']})")
        print(f"| {name} | " + " | ".join(cells) + " |")


def _known(row: Mapping[str, Any], options: Mapping[str, str]) -> str:
    found = extract(row["text"], options, row["multiple"], stem=row.get("stem"))
    return "".join(found.letters or ())


def _ours(text: str, options: Mapping[str, str], *, several: bool) -> str:
    return "".join(extract(text, options, None if several else False).letters or ())


def chains(path: Path) -> None:
    """Print the agreement on chains of thought whose last sentence names one option."""
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    stated = [row for row in rows if _names_one(row)]
    print(f"\n| read | {len(stated)} that name one option at their end | all {len(rows)} |\n|---|---:|---:|")
    for name, rule in {**_PEERS, "ours": _ours}.items():
        shares = []
        for some in (stated, rows):
            found = [
                (rule(row["raw_output"], row["options"], several=False) == row["answer"]) == row["flag"] for row in some
            ]
            shares.append(f"{sum(found) / len(found):.4f}")
        print(f"| {name} | " + " | ".join(shares) + " |")


def explicit(path: Path) -> None:
    """Print how outputs that end in one explicit answer (``truth``) are read, with their question type and without."""
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    print(f"\n| {len(rows)} outputs with an explicit answer | as it stands | another letter | none |")
    print("|---|---:|---:|---:|")
    for title, known in (("question type known", True), ("not known", False)):
        found = Counter[str]()
        for row in rows:
            multiple = row["question_type"].startswith("多") if known else None
            read = "".join(extract(row["raw_output"], row["options"], multiple, stem=row["question"]).letters or ())
            found["right" if read == row["truth"] else "wrong" if read else "none"] += 1
        print(f"| {title} | {found['right'] / len(rows):.4f} | {found['wrong']} | {found['none']} |")


def _names_one(row: Mapping[str, Any]) -> bool:
    sentences = [part for part in re.split(r"(?<=[.!?])\s+|\n+", row["raw_output"].strip()) if part.strip()]
    mentions = read_claims(sentences[-1], row["options"], multiple=False).mentions if sentences else []
    return len({label for mention in mentions for label in mention.labels}) == 1


if __name__ == "__main__":
    by_hand()
    if len(sys.argv) > 1:
        against_people(Path(sys.argv[1]))
        chains(Path(sys.argv[1]) / "thoughtsource_cot_dev.jsonl")
        explicit(Path(sys.argv[1]) / "gaokao_gpt4_explicit.jsonl")
    hard_cases()
