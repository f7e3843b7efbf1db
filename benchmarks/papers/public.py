"""Build papers and banks that other people published, and look for what is wrong and looks right.

    python -m benchmarks.papers.public FOLDER --work /tmp/public

Every folder in FOLDER is a dataset of its own (no configuration). The table says what became of its items; below it
stand the kept texts that look as if something of another line, column or question had stayed in them. A match is a
place to look at, not an error.
"""

from __future__ import annotations

import re
import shutil
from collections import Counter
from pathlib import Path
from typing import Annotated, Any

import typer

from build_dataset.pipeline.api import build, table
from build_dataset.schemas.errors import UserError

STAGES = ("parse", "clean")
SUSPECT = {
    "an option's label": re.compile(r"^[A-K]\s?[、.．:：]\s*\S"),  # B、肺炎 as the text of option B
    "an answer": re.compile(r"(?:正确|参考|我的)?答案\s*[:：]|【解析】"),  # 层次模型 正确答案：B
    "a type or mark": re.compile(r"[（(【\[]\s*(?:单选|多选|判断|难度|\d+(?:\.\d+)?\s*分)"),  # (单选题, 1分)下列…
    "its number": re.compile(r"^\s*\d{1,4}\s*[、．]\s*\D"),  # 12、下列…
    "a rule": re.compile(r"[-=*]{5,}"),  # -----------
    "markup": re.compile(r"&(?:nbsp|lt|gt|amp);|!\[|</?(?:p|div|span|br|img)\b"),  # &nbsp;
}
"""Kinds of text that belong to no stem and no option, with an example each."""


def texts(question: dict[str, Any]) -> list[str]:
    """Return the stem and the options of a question."""
    return [question["stem"], *(option["text"] for option in question["options"])]


def repeated_ends(questions: list[dict[str, Any]]) -> dict[str, int]:
    """Return the last eight characters that more than a twentieth of the questions share at their ends."""
    ends = Counter(texts(question)[-1][-8:] for question in questions)
    least = max(8, len(questions) // 20)
    return {end: count for end, count in ends.items() if len(end) == 8 and count > least}


def main(
    folder: Annotated[Path, typer.Argument(help="Folder with a folder for each dataset.")],
    work: Annotated[Path, typer.Option(help="Folder to build in; what it holds of these datasets is replaced.")],
    shown: Annotated[int, typer.Option(help="Examples shown of each kind.")] = 2,
) -> None:
    """Build every dataset and print what became of its items, and what to look at."""
    typer.echo("| dataset | items | kept | waiting | rejected | to look at |\n|---|---:|---:|---:|---:|---:|")
    found: list[str] = []
    for source in sorted(path for path in folder.iterdir() if path.is_dir()):
        home = work / source.name
        shutil.rmtree(home, ignore_errors=True)
        shutil.copytree(source, home / "raw")
        config = home / "dataset.toml"
        config.write_text('[dataset]\nname = "public"\n', encoding="utf-8")
        try:
            done = build(config, last="clean")
        except UserError as error:
            typer.echo(f"| {source.name} | {error} |")
            continue
        kept = table(config, "clean/questions").to_dicts()
        matches = {
            name: hits
            for name, pattern in SUSPECT.items()
            if (hits := [each for each in kept if any(map(pattern.search, texts(each)))])
        }
        number = sum(map(len, matches.values())) + sum(repeated_ends(kept).values())
        items, waiting = (done["parse"]["counts"]["in"], sum(done[stage]["counts"]["waiting"] for stage in STAGES))
        row = (items, len(kept), waiting, items - len(kept) - waiting, number)
        typer.echo(f"| {source.name} | {' | '.join(f'{value:,}' for value in row)} |")
        for name, hits in matches.items():
            found += [f"{source.name}: {name}, {each['document']}: {texts(each)}" for each in hits[:shown]]
        found += [f"{source.name}: {count} end in {end}" for end, count in repeated_ends(kept).items()]
    typer.echo("\n".join(["", *found]))


if __name__ == "__main__":
    typer.run(main)
