"""Agreement of answer extraction with people who judged raw outputs, beside CMB's rule.

    python benchmarks/extraction/measure.py FOLDER

FOLDER holds ``explaincpe_*.json``: questions with ``options``, ``answer``, and per prompt variant ``*_response`` and
``*_judge`` (正确 or 错误). Prints a table: one row a way of reading, one column a file, and the disagreements of the
reading that ``build-dataset score`` takes.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from pipeline.evaluate.extraction import answers_first, extract


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


def cmb_rule(output: Judged, *, several: bool) -> str:
    """CMB's rule, from its description: the letters after 答案是 and its like, else every capital A to G."""
    stated = re.search(r"(?:答案[:：是为]|正确选项为|选)\s*(.*?)(?:。|\n|$)", output.text, re.DOTALL)
    after = re.findall("[A-G]", stated.group(1)) if stated else []
    letters = after or re.findall("[A-G]", output.text)
    return "".join(sorted(set(letters))) if several else "".join(letters[:1])


def ours(output: Judged, multiple: bool | None, answer_first: bool | None) -> str:
    """What ``extract`` reads."""
    return "".join(extract(output.text, output.options, multiple, answer_first).letters or ())


def readings(multiple: bool | None, habit: bool | None) -> dict[str, Reading]:
    """The ways of reading that are compared."""
    return {
        "CMB's rule": lambda output: cmb_rule(output, several=multiple is None),
        "each text by itself": lambda output: ours(output, multiple, None),
        "as a run (score, evaluate)": lambda output: ours(output, multiple, habit),
    }


def agreed(outputs: list[Judged], read: Reading) -> list[bool]:
    """Whether the reading of each output leads to people's judgement."""
    return [(read(output) == output.key) == output.right for output in outputs]


def main(folder: Path) -> None:
    """Print the table and the disagreements."""
    files = {path.stem: list(judged(path)) for path in sorted(folder.glob("explaincpe_*.json"))}
    habits = {name: answers_first((row.text, row.options) for row in rows) for name, rows in files.items()}
    print("| answers | read | " + " | ".join(files) + " | all |")
    print("|---|---|" + "---:|" * (len(files) + 1))
    for title, multiple in (("one, known", False), ("not known", None)):
        for way in readings(multiple, None):
            found = [agreed(rows, readings(multiple, habits[name])[way]) for name, rows in files.items()]
            shares = [sum(each) / len(each) for each in [*found, [one for each in found for one in each]]]
            print(f"| {title} | {way} | " + " | ".join(f"{share:.4f}" for share in shares) + " |")
    for name, rows in files.items():
        for row in rows:
            read = ours(row, False, habits[name])
            if (read == row.key) != row.right:
                print(f"{name} {row.name}: key {row.key}, judged {row.right}, read {read or None}")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
