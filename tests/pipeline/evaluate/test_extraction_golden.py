"""Every text of the benchmark is read as it was when the golden file was written: rule, letters, place and claims.

Where a change of the rules is meant, ``python -m tests.pipeline.evaluate.test_extraction_golden`` writes the file anew;
its diff is what the change does.
"""

import json
from itertools import cycle
from pathlib import Path

import pytest

from build_dataset.pipeline.claims import read_claims
from build_dataset.pipeline.claims.explanations import read_explanation
from build_dataset.pipeline.evaluate.extraction import extract, visible_output

GOLDEN = Path(__file__).with_name("extraction_golden.txt")
TEXTS = Path(__file__).parents[3] / "benchmarks" / "extraction"
STEMS = ("下列叙述正确的是", None, "下列哪项是错误的", "Which of the following is NOT true", None)
PARTS = 24
"""Tests that the texts are dealt to, so that each takes a fraction of a second."""


def texts() -> list[tuple[str, dict[str, str], bool | None, str | None, bool | None]]:
    """Text, options, whether several are asked for, stem, whether the answer comes first: all in turn."""
    options = json.loads((TEXTS / "by_hand_options.json").read_text(encoding="utf-8"))
    rows = [json.loads(line) for line in (TEXTS / "by_hand.jsonl").read_text(encoding="utf-8").splitlines()]
    firsts = cycle((None, None, True, False))
    return [
        (row["text"], options[row["options"]], None if at % 7 == 3 else row["multiple"], stem, first)
        for at, (row, stem, first) in enumerate(zip(rows, cycle(STEMS), firsts, strict=False))
    ]


def described(text, options, multiple, stem, first) -> str:
    """One line: the extraction, the claims of the text, its reading as an explanation."""
    found = extract(text, options, multiple, first, stem=stem)
    start, end = found.span or (0, 0)
    said = read_claims(text, options, multiple)
    claims = " ".join(
        f"{''.join(each.labels)}{each.stance[0]}{each.kind[:3]}{each.start}-{each.end}" for each in said.claims
    )
    judged = f"{''.join(said.judged.right)}+{''.join(said.judged.wrong)}-@{said.judged.start}-{said.judged.end}"
    argued = read_explanation(text, stem or "", options, several=bool(multiple))
    reading = argued and f"{argued.rule} {''.join(sorted(argued.answer or '?'))} {len(argued.detail)}"
    answer = f"{found.rule} {''.join(found.letters or '–')} {start}-{end}"
    return f"{answer} | {judged} | {claims} | {reading} | {len(visible_output(text))}"


@pytest.mark.slow
@pytest.mark.parametrize("part", range(PARTS))
def test_texts_are_read_as_before(part):
    golden = GOLDEN.read_text(encoding="utf-8").splitlines()
    own = texts()
    assert len(golden) == len(own)
    found = {at: described(*own[at]) for at in range(part, len(own), PARTS)}
    assert found == {at: golden[at] for at in found}


if __name__ == "__main__":
    GOLDEN.write_text("".join(described(*each) + "\n" for each in texts()), encoding="utf-8")
