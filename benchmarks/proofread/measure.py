"""The second reader's worth: silent errors planted among sound questions, its recall by kind, false alarms and cost.

``python -m benchmarks.proofread``: with ``--model`` and ``--base-url`` any OpenAI-compatible endpoint; ``--local`` a
small real model that packages bring (tests/services/requirements-llm.txt); without either a scripted server, which
proves the wire, the faults and the costs, and says nothing of any model. Answers are kept in ``--store``.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from random import Random
from subprocess import PIPE, Popen
from typing import Any

from benchmarks.proofread.plants import ERRORS, KINDS, Planted, plant, sound_questions
from build_dataset.annotation.llm.messages import Failed
from build_dataset.pipeline.clean.corrections import question_fields
from build_dataset.pipeline.proofread.params import ProofreadParams
from build_dataset.pipeline.proofread.stage import Proofreader
from build_dataset.pipeline.runtime.store import ItemStore
from build_dataset.pipeline.stats import wilson
from tests.annotation.scripted_server import Reply, ScriptedServer
from tests.making import Silent
from tests.pipeline.proofread.second_reader import answer, doubt, texts


class _Context(Silent):
    def __init__(self, store: Path) -> None:
        self.store = ItemStore(store)


@dataclass
class Row:
    """Questions with one error, or sound ones."""

    asked: int = 0
    doubted: int = 0
    named: int = 0  # under a kind that names the error
    unread: int = 0


def main() -> None:
    told = argparse.ArgumentParser(description=__doc__)
    told.add_argument("--model")
    told.add_argument("--base-url", default="https://api.openai.com/v1")
    told.add_argument("--api-key-env")
    told.add_argument("--price-in", type=float, default=2.5)
    told.add_argument("--price-out", type=float, default=10.0)
    told.add_argument("--local", action="store_true")
    told.add_argument("--data", type=Path, help="folder of real data, for more sound questions")
    told.add_argument("--each", type=int, default=25, help="planted errors of each kind")
    told.add_argument("--sound", type=int, default=300)
    told.add_argument("--together", type=int, default=8)
    told.add_argument("--max-cost", type=float)
    told.add_argument("--seed", type=int, default=0)
    told.add_argument("--store", type=Path)
    given = told.parse_args()
    random = Random(given.seed)
    sound = sound_questions(given.data, random, given.sound)
    mixed = [*plant(sound, given.each, random), *(Planted(each, "") for each in sound[: given.sound])]
    random.shuffle(mixed)
    with tempfile.TemporaryDirectory() as folder, _endpoint(given, mixed) as (server, more):
        options: dict[str, Any] = {"price_in": given.price_in, "price_out": given.price_out, **server, **more}
        options |= {"together": given.together, "max_cost": given.max_cost}
        params = ProofreadParams(**{name: value for name, value in options.items() if value is not None})
        reader = Proofreader(params, _Context(given.store or Path(folder) / "store.sqlite"))
        print(reader.estimate([each.question for each in mixed]))
        with suppress(KeyboardInterrupt):  # what was read until then is shown
            reader.read([each.question for each in mixed])
    mixed = [each for each in mixed if reader.key(each.question) in {*reader.readings, *reader.failed}]
    _show(_score(reader, mixed), reader, mixed)


def _score(reader: Proofreader, mixed: Sequence[Planted]) -> dict[str, Row]:
    rows = {name: Row() for name in (*ERRORS, "")}
    for each in mixed:
        row, found = rows[each.error], reader.doubts(each.question)
        row.asked += 1
        if isinstance(found, Failed):
            row.unread += 1
            continue
        kinds = {one.kind for one in found[0]}
        row.doubted += bool(kinds)
        row.named += bool(kinds & KINDS.get(each.error, set()))
    return rows


def _show(rows: dict[str, Row], reader: Proofreader, mixed: Sequence[Planted]) -> None:
    print("\n| planted | questions | doubted | named rightly | unread |\n|---|---:|---:|---:|---:|")
    for name, row in rows.items():
        doubted, named = (f"{count / max(1, row.asked):.2f}" for count in (row.doubted, row.named))
        print(f"| {name or '(sound)'} | {row.asked} | {doubted} | {named if name else ''} | {row.unread} |")
    planted = [row for name, row in rows.items() if name]
    asked, doubted = (sum(getattr(row, part) for row in planted) for part in ("asked", "doubted"))
    low, high = wilson(doubted, asked)
    alarms = rows[""]
    print(f"\nrecall {doubted} of {asked}: {doubted / asked:.3f} [{low:.3f}, {high:.3f}]")
    print(f"false alarms {alarms.doubted} of {alarms.asked}")
    found = [reader.doubts(each.question) for each in mixed]
    print(f"quotations that were none: {sum(each[1] for each in found if not isinstance(each, Failed))}")
    bill = reader.bill()
    per = 1000 / max(1, bill["readings"])
    for name in ("prompt_tokens", "completion_tokens", "cost"):
        print(f"{name} for 1,000 questions: {'unknown' if bill[name] is None else round(bill[name] * per, 2)}")
    print(json.dumps({name: value for name, value in bill.items() if "un" in name}))


@contextmanager
def _endpoint(given: argparse.Namespace, mixed: Sequence[Planted]) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """Yield the options of the server that is to be asked, started where it is ours."""
    if given.model:
        yield {"model": given.model, "base_url": given.base_url, "api_key_env": given.api_key_env}, {}
    elif given.local:
        from tests.services.llm_server import _SERVER

        with tempfile.TemporaryDirectory() as folder:
            command = [sys.executable, "-c", _SERVER, f"{folder}/gemma.gguf"]
            with Popen(command, stdin=PIPE, stdout=PIPE, text=True) as process:
                address = next(line.strip() for line in process.stdout or () if line.startswith("http://"))
                local = {"concurrency": 1, "timeout": 600.0, "max_tokens": 256, "max_retries": 1}
                yield {"model": "gemma-3-270m", "base_url": f"{address}/v1"}, local
                process.kill()
    else:
        server = _scripted(mixed)
        yield {"model": "scripted", "base_url": server.url}, {"max_retries": 6}
        server.close()


def _scripted(mixed: Sequence[Planted]) -> ScriptedServer:
    """A server that knows three errors in four, doubts a sound question in fifty, and fails now and then."""
    known = {_text(question_fields(each.question)): each for each in mixed}
    random = Random(1)
    lucky = {each.question.question_id for each in mixed if random.random() < (0.75 if each.error else 0.02)}

    def says(shown: dict[str, Any]) -> list[dict[str, str]]:
        each = known[_text({name: text for name, text in shown.items() if name != "no"})]
        if each.question.question_id not in lucky:
            return []
        return [doubt(min(KINDS.get(each.error, {"misread"})), "stem", shown["stem"][:6], "…")]

    def script(content: str, earlier: int, body: dict[str, Any]) -> Reply:
        fault = Random(content).randrange(10) if earlier == 0 else 9
        faults = (Reply(status=500), Reply(content='{"questions": ['), Reply(status=429, headers={"retry-after": "0"}))
        return faults[fault] if fault < len(faults) else Reply(content=answer(texts(body), says))

    return ScriptedServer(script)


def _text(fields: Mapping[str, str | None]) -> str:
    return json.dumps({name: text for name, text in fields.items() if text}, ensure_ascii=False, sort_keys=True)


if __name__ == "__main__":
    main()
