"""Put the real outcome of the sample into both READMEs: the counts, and the first and last rows of the release."""

from __future__ import annotations

import json
import re
from pathlib import Path

import polars as pl

from build_dataset.pipeline.catalogue import STAGES
from build_dataset.pipeline.cli.report import reason_line, sum_line

ROOT = Path(__file__).resolve().parents[1]
READMES = (ROOT / "README.md", ROOT / "README.zh-CN.md")
COLUMNS = ("question_id", "stem", "answer", "disease_group", "clinical_department", "difficulty", "difficulty_estimate")
_LONGEST = 24  # characters of a stem in the table


def demo(build: Path) -> str:
    """Return the counts that ``make demo`` prints, stage by stage."""
    lines = []
    for stage in (stage for stage in STAGES if stage.params().off() is None):  # what runs without being asked for
        manifest = json.loads((build / stage.name / "manifest.json").read_text(encoding="utf-8"))
        reasons = {**manifest["reasons"]["rejected"], **manifest["reasons"]["waiting"]}
        why = f"   ({reason_line(reasons)})" if reasons else ""
        lines.append(f"{stage.name:<9} {sum_line(manifest['counts'])}{why}")
    return "\n".join(["```", *lines, "```"])


def rows(build: Path) -> str:
    """First and last row of each split."""
    lines = ["| split | " + " | ".join(f"`{name}`" for name in COLUMNS) + " |", "| --- " * (len(COLUMNS) + 1) + "|"]
    for split in ("train", "validation", "test"):
        frame = pl.read_parquet(build / "export" / f"{split}.parquet")
        for row in (frame.row(0, named=True), frame.row(-1, named=True)):
            lines.append("| " + " | ".join([split, *(_cell(row[name]) for name in COLUMNS)]) + " |")
    return "\n".join(lines)


def filled(text: str, build: Path) -> str:
    """A README with its blocks filled in."""
    for name, block in (("demo", demo(build)), ("rows", rows(build))):
        pattern = rf"(<!-- {name} -->\n).*?(<!-- /{name} -->)"
        text = re.sub(pattern, lambda match, block=block: f"{match[1]}{block}\n{match[2]}", text, flags=re.DOTALL)
    return text


def _cell(value: object) -> str:
    text = "".join(value) if isinstance(value, list) else str(value)
    text = text.replace("|", "\\|").replace("\n", " ")
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


if __name__ == "__main__":
    for readme in READMES:
        readme.write_text(filled(readme.read_text(encoding="utf-8"), ROOT / "build"), encoding="utf-8")
