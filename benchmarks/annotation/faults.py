"""2,000 questions against a server of which 30 % of the first answers are broken; then ten kills in one run.

``python -m benchmarks.annotation.faults [--questions 2000] [--kills 10]`` prints a row for each kind of fault, what
became of the questions, and how often one was asked and stored when the process is killed at random moments.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from benchmarks.annotation.questions import questions
from build_dataset.annotation.annotator import Labelled
from build_dataset.annotation.llm import limits
from build_dataset.annotation.llm_annotator import LlmAnnotator
from build_dataset.annotation.params import AnnotateLlmOptions
from build_dataset.pipeline.runtime.store import ItemStore
from tests.annotation.scripted_server import Reply, ScriptedServer

ROOT = Path(__file__).resolve().parents[2]
CUT = Reply(content='{"疾病组": "1', finish_reason="length")
FAULTS = {
    "429": (Reply(status=429, headers={"retry-after": "0"}), "rate_limited"),
    "500": (Reply(status=500), "server_error"),
    "timeout": (Reply(stall=3.0), "timeout"),
    "lost connection": (Reply(drop=True), "connection"),
    "broken JSON around the answer": (Reply(raw=b'{"id": "x", "choices": [{"ind'), "malformed_json"),
    "no JSON in the answer": (Reply(content="就不告诉你"), "malformed_json"),
    "refusal": (Reply(content="", refusal="no"), "refused"),
    "truncated": (CUT, "truncated"),
    "label outside the set": (Reply(content='{"疾病组": "心脏病"}'), "invalid_label"),
}
CHILD = """
import sys
from benchmarks.annotation.faults import annotate
annotate(sys.argv[1], sys.argv[2], int(sys.argv[3]))
"""


def annotate(url: str, store: str, count: int, at_once: int = 16) -> list:
    options = AnnotateLlmOptions(base_url=url, model="m", concurrency=at_once, timeout=1.5, max_retries=0)
    return list(LlmAnnotator(options, ItemStore(Path(store))).annotate(questions(count), lambda _: None))


def number_of(message: str) -> int:
    return int(re.search(r"（(\d+)）", message)[1])


def stored(store: str) -> int:
    import sqlite3

    with sqlite3.connect(store) as connection:
        query = "SELECT count(*) FROM items WHERE key NOT LIKE 'wasted:%'"
        return connection.execute(query).fetchone()[0]


def faults(count: int, folder: str) -> None:
    drawn = random.Random(0)
    kinds = {number: drawn.choice([*FAULTS]) for number in drawn.sample(range(count), round(0.3 * count))}
    broken = True

    def script(message: str, *_: object) -> Reply:
        kind = kinds.get(number_of(message)) if broken else None
        return FAULTS[kind][0] if kind else Reply()

    server, store = ScriptedServer(script), f"{folder}/faults.sqlite"
    first = {found.question_id: found for found in annotate(server.url, store, count)}
    assert len(first) == count
    print(f"{'fault':32}{'questions':>10}{'classified':>12}")
    for kind, (_, reason) in FAULTS.items():
        own = [f"b{number}" for number, found in kinds.items() if found == kind]
        right = sum(getattr(first[name], "reason", None) == reason for name in own)
        print(f"{kind:32}{len(own):10}{right:12}")
    good = sum(isinstance(found, Labelled) for found in first.values())
    print(f"{'none':32}{count - len(kinds):10}{good:12}  labelled")
    broken, asked = False, dict(server.asked)
    server.asked.clear()
    second = annotate(server.url, store, count)
    again = {number_of(message) for message in server.asked}
    paid_again = sum(number not in kinds for number in again)
    print(f"second run: {len(second)} labelled, {sum(server.asked.values())} requests, {paid_again} paid before")
    server.asked.clear()
    annotate(server.url, store, count)
    print(f"third run: {sum(server.asked.values())} requests; stored answers {stored(store)} of {count}")
    assert len(asked) == count
    server.close()


def kills(count: int, times: int, folder: str) -> None:
    server, store = ScriptedServer(lambda *_: Reply(stall=0.02)), f"{folder}/kills.sqlite"
    command = [sys.executable, "-c", CHILD, server.url, store, str(count)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    drawn, at_once = random.Random(1), 16
    for round_ in range(1, times + 1):
        target = round_ * count // (times + 1) - drawn.randrange(20)
        child = subprocess.Popen(command, env=environment, cwd=ROOT)
        while len(server.answered) < target and child.poll() is None:
            time.sleep(0.001)
        child.send_signal(signal.SIGKILL)
        child.wait()
    subprocess.run(command, env=environment, cwd=ROOT, check=True)
    extra = sum(server.asked.values()) - count
    tally = Counter(server.asked.values())
    print(f"{times} kills: {stored(store)} stored answers of {count}, {extra} asked again of at most")
    print(f"  {times * at_once} in flight; asked {json.dumps(dict(sorted(tally.items())))} times")
    server.asked.clear()
    subprocess.run(command, env=environment, cwd=ROOT, check=True)
    print(f"after the end: {sum(server.asked.values())} requests")
    server.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--questions", type=int, default=2000)
    parser.add_argument("--kills", type=int, default=10)
    given = parser.parse_args()
    limits._FIRST_BACKOFF = 0.01
    with tempfile.TemporaryDirectory() as folder:
        faults(given.questions, folder)
        kills(given.questions, given.kills, folder)


if __name__ == "__main__":
    main()
