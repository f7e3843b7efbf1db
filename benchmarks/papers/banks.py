"""Compare the rows of question banks with a truth: right, wrong, waiting by reason, rejected by reason, refused.

``python -m benchmarks.papers.banks FOLDER TRUTH.jsonl [--show 3]``: FOLDER holds banks as published; each line of the
truth has ``file``, ``n`` (the row), ``stem`` (with its case), ``opts``, ``ans`` and ``kind``. A row whose truth is no
multiple-choice question (``kind``) is right where it is not kept.
"""

import argparse
import json
import re
import tempfile
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from build_dataset.pipeline.api import build, table

MIXED = ("waiting", "rejected")


def plain(text: str) -> str:
    """Return a text without space and width: punctuation counts."""
    bare = re.sub(r"\s+", "", unicodedata.normalize("NFKC", text)).casefold().rstrip(".。;；,")
    return re.sub(r"\A\d{1,4}[.、](?!\d)", "", bare)  # a number may stay or go


def outcomes(config: Path) -> Iterator[tuple[str, int, str, dict[str, Any] | None]]:
    """Yield document, row, fate and question of every row of a built dataset."""
    for row in table(config, "clean/questions").iter_rows(named=True):
        yield row["document"], row["number"], "kept", row
    for stage in ("parse", "clean"):
        for fate in ("review", "rejects"):
            for row in table(config, f"{stage}/{fate}").iter_rows(named=True):
                said = f"{'waiting' if fate == 'review' else 'rejected'} {row['reason']}"
                items = json.loads(row["item"]) if row["item"] else {}
                for item in items if isinstance(items, list) else [items]:
                    place = re.fullmatch(r"(.*)#(\d+)", row["item_id"])
                    if "document" in item and "number" in item:
                        yield item["document"], item["number"], said, item
                    elif place:
                        yield place[1], int(place[2]), said, None


def run(folder: Path, names: Iterable[str], sources: str = "") -> tuple[Path, list[tuple[str, str]]]:
    """Build the banks of a folder up to clean; return the configuration and the files that were refused."""
    work = Path(tempfile.mkdtemp())
    (work / "raw").mkdir()
    for name in names:
        (work / "raw" / name).write_bytes((folder / name).read_bytes())
    config = work / "dataset.toml"
    config.write_text(f'[dataset]\nname = "banks"\nraw = "raw"\nbuild = "build"\n{sources}', encoding="utf-8")
    build(config, last="clean")
    refused = [
        (row["item_id"], f"{row['reason']}: {row['detail']}")
        for row in table(config, "ocr/rejects").iter_rows(named=True)
    ]
    return config, refused


def differs(question: dict[str, Any], truth: dict[str, Any]) -> str | None:
    """Return the part in which a question differs from the truth; None where it is right."""
    stem = f"{question.get('shared_stem') or ''}{question['stem']}"
    if plain(stem) != plain(truth["stem"]):
        return "stem"
    if [plain(one["text"]) for one in question["options"]] != [plain(one) for one in truth["opts"]]:
        return "options"
    return None if (question.get("answer") or []) == truth["ans"] else "answer"


def main() -> None:
    """Print a table of what became of the rows, and the first wrong ones."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("truth", type=Path)
    parser.add_argument("--show", type=int, default=3)
    given = parser.parse_args()
    truth: dict[str, dict[int, dict[str, Any]]] = defaultdict(dict)
    for line in given.truth.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        truth[row["file"]][row["n"]] = row
    names = sorted(one.name for one in given.folder.iterdir() if one.name not in ("README.md", given.truth.name))
    config, refused = run(given.folder, names)
    ends: dict[str, Counter[str]] = defaultdict(Counter)
    shown: dict[str, list[str]] = defaultdict(list)
    for name, number, fate, question in outcomes(config):
        wanted = truth.get(name, {}).get(number)
        if wanted is None:
            ends[name][f"({fate})" if name not in truth else f"not in the truth: {fate}"] += 1
            continue
        if fate == "kept" and question is not None:
            part = differs(question, wanted) if wanted["kind"] == "mc" else "no multiple choice"
            fate = f"WRONG {part}" if part else "right"
            if part:
                shown[name].append(f"{number} {part}: {_shown(question, wanted)}")
        ends[name][fate] += 1
    for name, why in refused:
        ends[name][f"REFUSED {why[:150]}"] += max(1, len(truth.get(name, ())))
    for name in sorted(ends):
        told = ", ".join(f"{fate} {count}" for fate, count in ends[name].most_common())
        print(f"{name} ({len(truth.get(name, ()))}): {told}")
        print(*(f"      {one}" for one in shown[name][: given.show]), sep="\n", end="\n" if shown[name] else "")
    every = sum((Counter({fate.partition(" ")[0]: n for fate, n in one.items()}) for one in ends.values()), Counter())
    print(dict(every))


def _shown(question: dict[str, Any], truth: dict[str, Any]) -> str:
    said = f"{question.get('shared_stem') or ''}¶{question['stem']} | {[one['text'] for one in question['options']]} "
    return f"{said[:300]!r} {question.get('answer')} instead of {truth['stem'][:200]!r} {truth['opts']} {truth['ans']}"


if __name__ == "__main__":
    main()
