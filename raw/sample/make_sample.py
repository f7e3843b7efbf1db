"""Writes the sample exam: ``papers/`` and ``gold.json``, from ``questions/*.toml``.

The same questions give the same bytes on every run with the same library versions.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

from renderer.gold import gold_json  # noqa: E402 - the renderer lies beside this script
from renderer.model import load  # noqa: E402
from renderer.papers import render  # noqa: E402


def main(arguments: list[str] | None = None) -> None:
    """Write all files of the sample under ``--out``."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=HERE, help="folder to write to (default: beside this script)")
    out: Path = parser.parse_args(arguments).out
    papers = load(HERE / "questions")
    (out / "papers").mkdir(parents=True, exist_ok=True)
    for name, content in render(papers).items():
        (out / "papers" / name).write_bytes(content)
    (out / "gold.json").write_text(gold_json(papers), encoding="utf-8")


if __name__ == "__main__":
    main()
