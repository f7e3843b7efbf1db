"""Damaged configurations, label files, manifests, ledgers, stores, answer files and arguments, through the commands.

Every case ends in one of the documented exit codes and without a traceback; 1 (a bug of ours) is counted and printed
with its seed, so that `--only KIND --seed N --cases 1` shows it again.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import os
import random
import shutil
import sqlite3
import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

HOSTILE: list[Any] = [
    None, True, -1, 0, 1e308, -0.0, 2**64, 10**400, "", " ", "\x00", "\ud800", "../../x", "~nosuchuser/x", "a" * 5000,
    "．１", "[red]", "{x}", "%s", [], {}, [[]], {"": ""}, [None], {"a": {"a": {}}}, "2026-99-99", "NaN", "-", "--help",
]  # fmt: skip
ALLOWED = {0, 2, 3}
PAPER = """一、单项选择题
1. 下列哪项正确
A. 甲
B. 乙
C. 丙
D. 丁
答案：A
2. 下列哪项错误
A. 子
B. 丑
C. 寅
D. 卯
答案：B
"""
LABELS = """subject = "法学"
[[dimensions]]
name = "area"
zh = "法律部门"
en = "Area"
labels = [ { zh = "民法", en = "Civil", words = ["合同"] }, { zh = "刑法", en = "Criminal" } ]
"""
CONFIG = """[dataset]
name = "fuzz"
version = "1.0.0"
date = "2026-01-02"
seed = 7
[executor]
workers = 1
"""
KEY = [{"id": 1, "answer": "A", "question_type": "单选", "option": {"A": "甲", "B": "乙"}}, {"id": 2, "answer": "AB"}]
GIVEN = [{"id": 1, "model_answer": "A"}, {"id": 2, "model_answer": "故选AB。"}]
ROW = {"id": 1, "question": "x", "options": {"A": "甲", "B": "乙"}, "answer": "A", "raw_output": "故选A。"}


def command(*arguments: str) -> tuple[int, str]:
    """Run the command line in this process; return its exit code and what it printed."""
    from build_dataset.pipeline.cli.app import main
    from build_dataset.schemas.taxonomy import use_label_set

    told = io.StringIO()
    sys.argv = ["build-dataset", *arguments]
    with contextlib.redirect_stdout(told), contextlib.redirect_stderr(told):
        try:
            main()
            code = 0
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else int(end.code is not None)
        except BaseException as error:  # that is what is looked for
            code = -1
            told.write(f"Traceback: {error!r}")
    use_label_set(None)
    return code, told.getvalue()


def mutate(draw: random.Random, content: Any) -> Any:
    """Return JSON-like content with one part replaced, dropped, doubled or moved."""
    if isinstance(content, dict) and content and draw.random() < 0.85:
        key = draw.choice(list(content))
        changed = dict(content)
        match draw.randrange(5):
            case 0:
                del changed[key]
            case 1:
                changed[key] = draw.choice(HOSTILE)
            case 2:
                changed[str(draw.choice(HOSTILE))[:50]] = changed.pop(key)
            case _:
                changed[key] = mutate(draw, content[key])
        return changed
    if isinstance(content, list) and content and draw.random() < 0.85:
        place = draw.randrange(len(content))
        return [*content[:place], mutate(draw, content[place]), *content[place + draw.randrange(2) :]]
    return draw.choice(HOSTILE)


def damage(draw: random.Random, data: bytes) -> bytes:
    """Return bytes that were cut, changed, repeated or filled in."""
    place = draw.randrange(len(data) + 1)
    end = min(len(data), place + draw.randrange(40))
    filling = draw.choice(
        [b"", b"\x00", b"\xff\xfe", b"[" * 3000, b'"', b"9" * 5000, b"\n", b"\xed\xa0\x80", data[place:end] * 2]
    )
    return data[:place] + filling + data[end:]


def _json(draw: random.Random, content: Any) -> bytes:
    data = json.dumps(mutate(draw, content) if draw.random() < 0.7 else content, ensure_ascii=draw.random() < 0.5)
    whole = data.encode(errors="surrogatepass")
    return damage(draw, whole) if draw.random() < 0.3 else whole


def _toml(draw: random.Random, text: str) -> bytes:
    lines = text.splitlines()
    for _ in range(draw.randrange(1, 4)):
        place = draw.randrange(len(lines))
        name = lines[place].partition("=")[0]
        value = json.dumps(draw.choice(HOSTILE), ensure_ascii=False)
        lines[place] = draw.choice(
            [f"{name}= {value}", "", lines[place] * 2, f"{value} = 1", f"[{name}]", f"x{lines[place]}"]
        )
    data = "\n".join(lines).encode(errors="surrogatepass")
    return damage(draw, data) if draw.random() < 0.3 else data


def config(draw: random.Random, home: Path) -> tuple[int, str]:
    """A damaged dataset.toml."""
    sections = "".join(
        f"[{name}]\n{key} = 1\n" for name, key in (("ocr", "max_pixels"), ("clean", "max_stem"), ("split", "method"))
    )
    (home / "dataset.toml").write_bytes(_toml(draw, CONFIG + (sections if draw.random() < 0.3 else "")))
    return command(*draw.choice([("status",), ("status", "--json"), ("run", "--to", "parse")]))


def labels(draw: random.Random, home: Path) -> tuple[int, str]:
    """A damaged label set."""
    (home / "labels.toml").write_bytes(_toml(draw, LABELS))
    (home / "dataset.toml").write_text(CONFIG.replace("seed", 'labels = "labels.toml"\nseed'))
    return command("status")


def manifest(draw: random.Random, home: Path) -> tuple[int, str]:
    """A damaged manifest of a stage."""
    path = draw.choice(sorted((home / "build").glob("*/manifest.json")))
    content = json.loads(path.read_text())
    for _ in range(draw.randrange(1, 4)):
        content = mutate(draw, content)
    path.write_bytes(_json(draw, content))
    return command(
        *draw.choice([("status",), ("status", "--json"), ("release",), ("explain", "a"), ("run",), ("report",)])
    )


def ledger(draw: random.Random, home: Path) -> tuple[int, str]:
    """A damaged ledger of runs."""
    path = home / "build" / "runs.jsonl"
    lines = [_json(draw, json.loads(line)) for line in path.read_text().splitlines()]
    path.write_bytes(b"\n".join(lines))
    return command(*draw.choice([("status",), ("status", "--json"), ("run", "--to", "ocr")]))


def store(draw: random.Random, home: Path) -> tuple[int, str]:
    """Damaged values, or a damaged file, of the item store."""
    path = draw.choice(sorted((home / "build" / "store").glob("*.sqlite")))
    if draw.random() < 0.3:
        path.write_bytes(damage(draw, path.read_bytes()))
    else:
        with contextlib.closing(sqlite3.connect(path)) as connection, connection:
            for key, value in connection.execute("SELECT key, value FROM items").fetchall():
                damaged = _json(draw, json.loads(value)).decode(errors="replace")
                connection.execute("UPDATE items SET value = ? WHERE key = ?", (damaged, key))
    return command(path.stem, "--force")


def answers(draw: random.Random, home: Path) -> tuple[int, str]:
    """Damaged files of outputs, submissions and keys."""
    (home / "key.json").write_bytes(_json(draw, KEY))
    (home / "given.json").write_bytes(_json(draw, GIVEN))
    (home / "rows.jsonl").write_bytes(_json(draw, ROW))
    if draw.random() < 0.5:
        return command("score", "given.json", "--key", "key.json", "--out", "out.jsonl")
    return command("score", "rows.jsonl", "--out", "out.jsonl")


def arguments(draw: random.Random, _: Path) -> tuple[int, str]:
    """Arguments that nobody means."""
    words = [str(item).replace("\x00", "") for item in HOSTILE if isinstance(item, str | int)]
    words += [
        "dataset.toml",
        "build",
        "raw",
        "--set",
        "dataset.seed=x",
        "a=b",
        "--from",
        "dedup",
        "--json",
        "--config",
        "--pages",
        "3-1",
    ]
    names = ["status", "explain", "inspect", "score", "release", "submission", "doctor", "init", "clean", "dedup"]
    return command(draw.choice(names), *draw.choices(words, k=draw.randrange(4)))


KINDS: dict[str, tuple[Callable[[random.Random, Path], tuple[int, str]], int]] = {
    "config": (config, 1500), "labels": (labels, 800), "manifest": (manifest, 800), "ledger": (ledger, 300),
    "store": (store, 100), "answers": (answers, 1000), "arguments": (arguments, 800),
}  # fmt: skip


def main() -> int:
    """Run the cases and print how many ended how."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", choices=KINDS)
    parser.add_argument("--cases", type=int, help="of each kind; 5,300 in all when absent")
    given = parser.parse_args()
    bad = tried = 0
    with tempfile.TemporaryDirectory() as folder:
        built = build(Path(folder) / "built")
        for kind, (work, usual) in KINDS.items():
            if given.only not in (None, kind):
                continue
            ends: Counter[int] = Counter()
            for seed in range(given.seed, given.seed + (given.cases or usual)):
                home = Path(folder) / "case"
                shutil.rmtree(home, ignore_errors=True)
                shutil.copytree(built, home)
                os.chdir(home)
                code, told = work(random.Random(f"{kind}{seed}"), home)
                ends[code] += 1
                if code not in ALLOWED or "Traceback" in told:
                    bad += 1
                    print(f"{kind} seed {seed}: exit {code}: {told.strip()[-300:]}", flush=True)
            tried += ends.total()
            print(f"{kind:10} {ends.total():5} cases, exits {dict(sorted(ends.items()))}", flush=True)
        os.chdir("/")
    print(f"{tried} tried, {tried - bad} survived")
    return int(bad > 0)


def build(home: Path, last: str = "report") -> Path:
    """Build a small dataset in a folder, to be damaged."""
    (home / "raw").mkdir(parents=True)
    (home / "raw" / "paper.txt").write_text(PAPER, encoding="utf-8")
    (home / "dataset.toml").write_text(CONFIG, encoding="utf-8")
    os.chdir(home)
    code, told = command("run", "--to", last)
    if code not in ALLOWED:
        raise SystemExit(told)
    return home


if __name__ == "__main__":
    sys.exit(main())
