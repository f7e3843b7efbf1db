"""Born-digital papers as poor scans, photographs and folders of pictures, against what their text layer gives.

    python -m benchmarks.papers.poor PAPER.pdf [KEY.pdf] … [--pages 4] [--seed 0] [--conditions scan,photo,images]

A file that gives no question is a key and belongs to the paper named before it. The build of the text layers, with the
same pages and keys, is the truth; keys stay PDFs with a text layer. Questions are compared by number. A kept question
is wrong where its stem, options or answer differ in a letter or digit; width, spaces, marks and one-to-one variants of
script (脑 for 腦, 裡 for 裏) do not count. ``spoil.py`` has the conditions.
"""

from __future__ import annotations

import io
import re
import tempfile
import time
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Annotated, Any, TypeAlias

import numpy as np
import pymupdf
import typer
from PIL import Image
from rapidfuzz.distance import Levenshtein

from benchmarks.papers.spoil import CONDITIONS, Condition, Pixels
from build_dataset.pipeline.api import build, table

ALIKE = "裏裡 睪睾 皰疱 痹痺 為爲 群羣 峰峯 臺台 唇脣 啟啓 床牀 線綫 污汙 衛衞 吃喫 蹟跡 迹跡 瘘瘻 腭顎 粘黏 髙高 査查"
ALIKE += " 敍敘 塡填 袪祛 癒愈"
"""Variants of one character in one script."""
SHARE = 200  # Longest text of a difference that is shown
Question: TypeAlias = Mapping[str, Any]
Place: TypeAlias = tuple[str, int]  # A paper and a number
Group: TypeAlias = tuple[Path, list[Path]]  # A paper and its keys


@dataclass
class Outcome:
    """The outcome of one condition."""

    kept: int = 0
    wrong: list[str] = field(default_factory=list)
    waiting: Counter[str] = field(default_factory=Counter)
    rejected: Counter[str] = field(default_factory=Counter)
    lost: list[str] = field(default_factory=list)
    beyond: int = 0  # kept, but not among the questions of the truth


def main(
    files: Annotated[list[Path], typer.Argument(help="Papers, each followed by its keys.")],
    pages: Annotated[int, typer.Option(help="Pages of each paper, from the first; 0 for all.")] = 4,
    seed: Annotated[int, typer.Option(help="Of angles, light, noise …")] = 0,
    conditions: Annotated[str, typer.Option(help=f"Some of {', '.join(CONDITIONS)}.")] = ",".join(CONDITIONS),
    show: Annotated[int, typer.Option(help="Wrong and lost questions shown of each condition.")] = 3,
    work: Annotated[Path | None, typer.Option(help="Folder to keep papers and builds in.")] = None,
) -> None:
    """Print what each condition keeps, gets wrong, lets wait and loses."""
    with tempfile.TemporaryDirectory() as scratch:
        home = work or Path(scratch)
        cut = _cut(files, pages, home / "cut")
        truth, groups = _truth(cut, home)
        total = sum(map(len, truth.values()))
        typer.echo(f"{len(groups)} papers, {total} questions in truth, seed {seed}, {pages or 'all'} pages")
        typer.echo("| condition | kept | wrong of these | waiting | set aside | lost | s | reasons |")
        typer.echo("|---|---:|---:|---:|---:|---:|---:|---|")
        for name in conditions.split(","):
            started = time.perf_counter()
            _lay_out(home / name / "raw", groups, CONDITIONS[name], seed)
            told = _compare(truth, home / name)
            _print(name, total, told, time.perf_counter() - started, show)


def _cut(files: Sequence[Path], pages: int, folder: Path) -> list[Path]:
    """Copy the files; of papers, which are longer than keys, the first pages."""
    folder.mkdir(parents=True, exist_ok=True)
    made = []
    for file in files:
        document = pymupdf.open(file)
        if pages and document.page_count > pages:
            document.select(range(pages))
        made.append(folder / file.name)
        made[-1].write_bytes(document.tobytes(no_new_id=True, garbage=3))
    return made


def _truth(files: Sequence[Path], home: Path) -> tuple[dict[Place, list[Question]], list[Group]]:
    """Return the questions that the text layers give, and the papers with their keys."""
    raw = home / "truth" / "raw"
    raw.mkdir(parents=True, exist_ok=True)
    for file in files:
        (raw / file.name).write_bytes(file.read_bytes())
    questions = _questions(home / "truth")
    papers = {paper for paper, _ in questions}
    asked = {_paper(row["document"]) for row in table(home / "truth" / "dataset.toml", "parse/questions").to_dicts()}
    if lacking := sorted(asked - papers):
        raise typer.BadParameter(f"no question is kept of {', '.join(lacking)}: name the key of each paper behind it")
    groups: list[Group] = []
    for file in files:
        if file.stem in papers:
            groups.append((file, []))
        elif groups:
            groups[-1][1].append(file)
    return questions, groups


def _questions(home: Path) -> dict[Place, list[Question]]:
    """Build a folder; return what is kept by paper and number."""
    config = home / "dataset.toml"
    config.write_text('[dataset]\nname = "poor"\n', encoding="utf-8")
    build(config, last="clean")
    found: dict[Place, list[Question]] = defaultdict(list)
    for question in table(config, "clean/questions").to_dicts():
        found[_paper(question["document"]), question["number"]].append(question)
    return found


def _paper(document: str) -> str:
    """Return the name of the paper that a document was made from: its own name, or that of its folder."""
    first = Path(document).parts[0]
    return first if "/" in document else first.removesuffix(Path(first).suffix)


def _lay_out(raw: Path, groups: Sequence[Group], condition: Condition, seed: int) -> None:
    """Write the papers in a condition, with their keys."""
    for number, (paper, keys) in enumerate(groups):
        rng = np.random.default_rng([seed, number])
        source = pymupdf.open(paper)
        pictures = condition.spoil([rendered(page, condition.dpi) for page in source], rng)
        home = raw / paper.stem
        home.mkdir(parents=True, exist_ok=True)
        for key in keys:
            (home / key.name).write_bytes(key.read_bytes())
        if condition.form == "folder":
            for at, picture in enumerate(pictures, 1):
                suffix = ".png" if picture.startswith(b"\x89PNG") else ".jpg"
                (home / f"IMG_{at:04d}{suffix}").write_bytes(picture)
        elif condition.form == "tiff":
            first, *others = [Image.open(io.BytesIO(picture)) for picture in pictures]
            first.save(home / f"{paper.stem}.tiff", save_all=True, append_images=others, compression="jpeg")
        else:
            (home / paper.name).write_bytes(_pdf(pictures, source))


def rendered(page: Any, dpi: int) -> Pixels:
    """Return a page of a PDF as pixels, RGB."""
    pixmap = page.get_pixmap(dpi=dpi, alpha=False)
    return np.frombuffer(pixmap.samples, np.uint8).reshape(pixmap.h, pixmap.w, 3).copy()


def _pdf(pictures: Sequence[bytes], source: Any) -> bytes:
    made = pymupdf.open()
    for picture, page in zip(pictures, source, strict=True):
        sheet = made.new_page(width=page.rect.width, height=page.rect.height)
        sheet.insert_image(sheet.rect, stream=picture)
    return bytes(made.tobytes(no_new_id=True))


def _compare(truth: Mapping[Place, Sequence[Question]], home: Path) -> Outcome:
    found = _questions(home)
    told = Outcome(beyond=sum(map(len, found.values())))
    waiting, rejected = _reasons(home, "review"), _reasons(home, "rejects")
    for (paper, number), expected in sorted(truth.items()):
        kept = list(found.get((paper, number), ()))
        for question in expected:  # several where the numbers of a paper begin anew
            if kept:
                nearest = min(kept, key=lambda one: Levenshtein.distance(bare(one["stem"]), bare(question["stem"])))
                kept.remove(nearest)
                told.kept += 1
                told.beyond -= 1
                if difference := _difference(question, nearest):
                    told.wrong.append(f"{paper} {number}: {difference}")
            elif reasons := waiting.get((paper, number)):
                told.waiting[reasons[0]] += 1
            elif reasons := rejected.get((paper, number)):
                told.rejected[reasons[0]] += 1
            else:
                told.lost.append(f"{paper} {number}")
    return told


def _reasons(home: Path, name: str) -> dict[Place, list[str]]:
    """Return why questions wait or were set aside, by paper and number."""
    config = home / "dataset.toml"
    documents = {row["sha256"][:8]: _paper(row["document"]) for row in table(config, "ocr/documents").to_dicts()}
    found: dict[Place, list[str]] = defaultdict(list)
    for stage in ("parse", "clean"):
        for row in table(config, f"{stage}/{name}").to_dicts():
            for one in row.get("question_ids") or [row["item_id"]]:
                if match := re.fullmatch(r"([0-9a-f]{8})-\d+-0*(\d+)\b.*", one):
                    found[documents.get(match[1], ""), int(match[2])].append(row["reason"])
    return found


def _difference(expected: Question, found: Question) -> str:
    """Return the first difference in a letter or digit; "" for none."""
    for (part, printed), (_, read) in zip(_parts(expected), _parts(found), strict=False):
        if bare(printed) != bare(read):
            edits = Levenshtein.editops(bare(printed), bare(read))
            at = max(0, edits[0].src_pos - 6)
            return f"{part}: {bare(printed)[at : at + 24]} | {bare(read)[at : at + 24]}"
    if expected["answer"] != found["answer"] or expected["accepted_answers"] != found["accepted_answers"]:
        return f"answer: {expected['answer']} | {found['answer']}"
    return "" if len(expected["options"]) == len(found["options"]) else "number of options"


def _parts(question: Question) -> list[tuple[str, str]]:
    options = [(one["label"], one["label"] + one["text"]) for one in question["options"]]
    return [("stem", (question["shared_stem"] or "") + question["stem"]), *options]


def bare(text: str) -> str:
    """Return the letters and digits of a text, of variants of one character one."""
    plain = unicodedata.normalize("NFKC", text).translate(_variants()).lower()
    return re.sub(r"[\W_]", "", plain)


@cache
def _variants() -> dict[int, str]:
    """Return characters by the one that they are folded to: traditional ones that alone have their simplified form."""
    from opencc import OpenCC

    simplify, traditional = OpenCC("t2s"), OpenCC("s2t")
    pairs = {char: simplify.convert(char) for char in map(chr, range(0x4E00, 0xA000))}
    sources = Counter(plain for char, plain in pairs.items() if plain != char)
    single = {
        ord(char): plain
        for char, plain in pairs.items()
        if plain != char and sources[plain] == 1 and traditional.convert(plain) == char
    }
    return {ord(pair[0]): single.get(ord(pair[1]), pair[1]) for pair in ALIKE.split()} | single


def _print(name: str, total: int, told: Outcome, seconds: float, show: int) -> None:
    counts = (len(told.wrong), told.waiting.total(), told.rejected.total(), len(told.lost), round(seconds))
    reasons = ", ".join(f"{reason} {count}" for reason, count in (told.waiting + told.rejected).most_common())
    extra = f"; {told.beyond} kept that the truth lacks" if told.beyond else ""
    typer.echo(f"| {name} | {told.kept} of {total} | {' | '.join(map(str, counts))} | {reasons}{extra} |")
    for line in told.wrong[:show]:
        typer.echo(f"    wrong: {line[:SHARE]}")
    if told.lost and show:
        typer.echo(f"    lost: {', '.join(told.lost[: 4 * show])}")


if __name__ == "__main__":
    typer.run(main)
