"""Run the whole pipeline under limits on memory and over a failing network file system; print what users see and keep.

A case passes when it ends in time, with exit code 0, 2, 3 or (killed by the system) 137, without a traceback and with
the papers untouched, and when the same command afterwards, without the limit or fault, finishes with the bytes of an
undisturbed run.
"""

from __future__ import annotations

import argparse
import errno
import hashlib
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

PROGRAM = [sys.executable, "-c", "from build_dataset.pipeline.cli import main; main()"]
ROOT = Path(__file__).parents[2]
LIMIT = 300
"""Seconds after which a run counts as hanging: an undisturbed one takes about 20."""
MEMORY_GROUPS = Path("/sys/fs/cgroup/memory"), Path("/sys/fs/cgroup")
KILLED = 137


@dataclass(frozen=True)
class Outcome:
    """The end of a command."""

    code: int
    told: str
    seconds: float


def dataset(home: Path, pages: bool) -> None:
    """Make a paper as text and a bank; with ``pages`` a paper as PDF with a text layer, and one as a picture."""
    import pymupdf

    questions = [
        f"{n}. 关于第{n}种疾病的治疗，下列正确的是\nA. 甲药{n}\nB. 乙药{n}\nC. 丙药{n}\nD. 丁{n}\n答案：{'ABCD'[n % 4]}"
        for n in range(1, 61)
    ]
    raw = home / "raw"
    raw.mkdir(parents=True)
    (raw / "paper.txt").write_text("\n".join(questions[:20]), encoding="utf-8")
    rows = [f"第{n}项检查的意义是什么,一{n},二{n},三{n},四{n},{'ABCD'[n % 4]}" for n in range(200)]
    (raw / "bank.csv").write_text("\n".join(["题目,A,B,C,D,答案", *rows]), encoding="utf-8")
    (home / "dataset.toml").write_text('[dataset]\nname = "x"\ndate = "2026-01-02"\n[executor]\nworkers = 1\n')
    if not pages:
        return
    document = pymupdf.open()
    for start in (20, 27, 34):
        page = document.new_page()
        page.insert_text((50, 60), "\n".join(questions[start : start + 7]), fontname="china-s", fontsize=10)
    document.save(raw / "paper.pdf")
    picture = pymupdf.open()
    picture.new_page().insert_text((50, 60), "\n".join(questions[41:48]), fontname="china-s", fontsize=10)
    picture[0].get_pixmap(dpi=150).save(raw / "scan.png")


def run(home: Path, *words: str, start: Callable[[], None] | None = None, patch: str = "") -> Outcome:
    """Run a command; ``start`` is called in its process first, ``patch`` is Python that all its processes run first."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "sitecustomize.py").write_text(patch)
        begun = time.monotonic()
        process = subprocess.Popen(
            [*PROGRAM, *words],
            cwd=home,
            env={**os.environ, "PYTHONPATH": os.pathsep.join([folder, str(ROOT)])},
            preexec_fn=start,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            told, _ = process.communicate(timeout=LIMIT)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, 9)
            return Outcome(-1, "HANGS", LIMIT)
        code = process.returncode if process.returncode >= 0 else 128 - process.returncode
        return Outcome(code, told.decode(errors="replace"), time.monotonic() - begun)


def hashes(folder: Path) -> dict[str, str]:
    """Return the contents of a folder's files by name; ledgers, locks and stores, which tell of time, are left out."""
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.suffix in (".parquet", ".csv", ".json", ".txt", ".pdf", ".png", ".jsonl", ".md")
        and path.name != "runs.jsonl"
    }  # fmt: skip


@contextmanager
def memory_group(megabytes: int) -> Iterator[Callable[[], None]]:
    """Yield what puts a process into a control group with so much memory.

    Raises:
        OSError: this machine lets nobody make one.
    """
    root = next((one for one in MEMORY_GROUPS if (one / "cgroup.procs").exists()), MEMORY_GROUPS[0])
    group = root / f"build-dataset-attack-{os.getpid()}-{megabytes}"
    group.mkdir()
    try:
        old = (group / "memory.limit_in_bytes").exists()
        (group / ("memory.limit_in_bytes" if old else "memory.max")).write_text(str(megabytes << 20))
        for swap in ("memory.memsw.limit_in_bytes", "memory.swap.max"):
            if (group / swap).exists():
                (group / swap).write_text(str(megabytes << 20) if old else "0")
        yield lambda: (group / "cgroup.procs").write_text(str(os.getpid())) and None
    finally:
        time.sleep(0.5)
        group.rmdir()


@contextmanager
def rlimit(kind: int, megabytes: int) -> Iterator[Callable[[], None]]:
    """Yield what sets a limit in a process."""
    yield lambda: resource.setrlimit(kind, (megabytes << 20, megabytes << 20))


def memory_cases() -> Iterator[tuple[str, Any]]:
    """Yield limits by name."""
    for megabytes in (64, 150, 270, 400, 600, 800, 1200):
        yield f"cgroup {megabytes} MB", lambda megabytes=megabytes: memory_group(megabytes)
    for name, kind in (("ulimit -v", resource.RLIMIT_AS), ("ulimit -d", resource.RLIMIT_DATA)):
        for megabytes in (300, 1000, 3000, 4200):
            yield f"{name} {megabytes} MB", lambda kind=kind, megabytes=megabytes: rlimit(kind, megabytes)


def judge(name: str, home: Path, outcome: Outcome, clean: dict[str, str], words: tuple[str, ...]) -> str | None:
    """Return what is wrong with a case's end and what it left; None for nothing."""
    print(f"{name}: exit {outcome.code} in {outcome.seconds:.0f} s: {outcome.told.strip()[-300:]}", flush=True)
    if outcome.code not in (0, 2, 3, KILLED):
        return f"exit code {outcome.code}"
    if "Traceback" in outcome.told or (outcome.code == 2 and "error: " not in outcome.told):
        return "no clear line"
    again = run(home, *words)
    if again.code:
        return f"the same command ends with {again.code}: {again.told[-200:]}"
    if hashes(home) != clean:
        return f"other bytes: {sorted(dict(hashes(home).items() ^ clean.items()))[:6]}"
    return None


def attack(kinds: list[str], only: str, words: tuple[str, ...]) -> int:
    """Run the cases; return how many did not survive."""
    tried: Counter[str] = Counter()
    fallen: list[str] = []
    for kind in kinds:
        with tempfile.TemporaryDirectory() as folder:
            clean, fresh, home = (Path(folder, name) for name in ("clean", "fresh", "home"))
            dataset(fresh, pages=kind == "memory")
            shutil.copytree(fresh, clean)
            done = run(clean, *words)
            assert done.code == 0, done.told
            print(f"{kind}: undisturbed {done.seconds:.0f} s", flush=True)
            for name, case in {"memory": memory_cases, "network": network_cases}[kind]():
                if only not in name:
                    continue
                shutil.copytree(fresh, home)
                try:
                    outcome = _network(home, case, words) if kind == "network" else _limited(home, case, words)
                    wrong = judge(name, home, outcome, hashes(clean), words)
                except OSError as error:
                    print(f"{name}: not tried: {error}", flush=True)
                    continue
                finally:
                    shutil.rmtree(home)
                tried[kind] += 1
                if wrong:
                    fallen.append(name)
                    print(f"  WRONG {wrong}", flush=True)
    for kind, count in tried.items():
        print(f"{kind}: {count} tried")
    print(f"not survived: {len(fallen)} {fallen}")
    return len(fallen)


def _limited(home: Path, case: Any, words: tuple[str, ...]) -> Outcome:
    with case() as start:
        return run(home, *words, start=start)


@dataclass(frozen=True)
class Fault:
    """A fault of a file system: of calls by name on files whose path holds ``where``, from the ``after``-th on."""

    folder: str
    call: str
    code: int
    where: str = ""
    after: int = 0
    lasts: int = 1_000_000
    """Calls that fail."""
    patch: str = ""


_FLOCK = f"""
import fcntl
def flock(*_):
    raise OSError({errno.ENOLCK}, "No locks available")
fcntl.flock = flock
"""


def network_cases() -> Iterator[tuple[str, Fault]]:
    """Yield faults by name."""
    for code in ("EIO", "ESTALE"):
        number = getattr(errno, code)
        yield f"raw: open {code}", Fault("raw", "open", number, "paper")
        yield f"raw: read {code}", Fault("raw", "read", number, "paper")
        yield f"raw: read {code} once, later", Fault("raw", "read", number, after=3, lasts=1)
        yield f"raw: list {code}", Fault("raw", "readdir", number)
        yield f"raw: stat {code}", Fault("raw", "getattr", number, "bank.csv", after=2)
    for code, where in (("EIO", "sqlite"), ("EDQUOT", "parquet"), ("ESTALE", "manifest.json"), ("EIO", ".lock")):
        number = getattr(errno, code)
        yield f"build: write {where} {code}", Fault("build", "write", number, where)
        yield f"build: close {where} {code}", Fault("build", "flush", number, where)
        yield f"build: open {where} {code}", Fault("build", "open", number, where)
        yield f"build: create {where} {code}", Fault("build", "create", number, where)
    for code in ("EIO", "ESTALE"):
        number = getattr(errno, code)
        for call in ("rename", "fsync", "mkdir", "unlink", "rmdir"):
            yield f"build: {call} {code}", Fault("build", call, number, after=1)
    yield "build: no flock (ENOLCK)", Fault("build", "none", 0, patch=_FLOCK)
    yield "build: no POSIX locks (ENOLCK)", Fault("build", "lock", errno.ENOLCK)
    yield "build: no shared memory maps", Fault("build", "mmap", 0)
    yield "build: removed files linger (.nfs)", Fault("build", "linger", 0)
    yield "build: nothing is wrong", Fault("build", "none", 0)


def _network(home: Path, fault: Fault, words: tuple[str, ...]) -> Outcome:
    """Run a command over a file system with a fault."""
    (home / "build").mkdir(exist_ok=True)
    with ExitStack() as stack:
        stack.enter_context(mounted(home / fault.folder, fault))
        return run(home, *words, patch=fault.patch)


@contextmanager
def mounted(folder: Path, fault: Fault) -> Iterator[None]:
    """Put a file system with a fault over a folder, whose files it passes through.

    Raises:
        OSError: this machine has no FUSE.
    """
    below = folder.with_name(f"{folder.name}.below")
    folder.rename(below)
    folder.mkdir()
    process = subprocess.Popen(
        [sys.executable, "-m", "benchmarks.attack.netfs", str(below), str(folder)]
        + [str(part) for part in (fault.call, fault.code, fault.where, fault.after, fault.lasts)],
        cwd=ROOT,
    )
    try:
        for _ in range(100):
            if os.path.ismount(folder) or process.poll() is not None:
                break
            time.sleep(0.05)
        if not os.path.ismount(folder):
            raise OSError("no FUSE here")
        yield
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=False, capture_output=True)
        process.terminate()
        process.wait()
        folder.rmdir()
        below.rename(folder)


def main() -> None:
    """Run the attacks."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kinds", nargs="*", default=["memory", "network"], help="memory, network")
    parser.add_argument("--only", default="", help="Cases whose name holds this.")
    parser.add_argument("--to", default="parse", help="The last stage.")
    told = parser.parse_args()
    sys.exit(bool(attack(told.kinds, told.only, ("run", "--to", told.to))))


if __name__ == "__main__":
    main()
