"""Questions a second of the ``transformers`` backend beside lm-evaluation-harness and a plain loop.

    python -m benchmarks.gpu.throughput [--size 7b] [--questions 2000] [--new-tokens 16] [--json FILE]

Makes a model of Qwen2.5's architecture with random weights on this machine and loads it once. Every way answers the
same questions with the same prompts, zero-shot and with three worked examples of the question's subcategory:

- *loop*: three prompts at a time in the order of the file, padded, written by ``generate``, as CMB's README has it;
- *harness*: lm-evaluation-harness, if ``lm_eval`` is installed, writing and by the letters' likelihoods;
- *ours*: writing and by likelihood: batches by length and token budget, worked examples read once.

Loading is not timed. Random weights never end a text, so every written answer has ``--new-tokens`` tokens. Tokens are
counted as they go through the model, padding and written ones included: 2 FLOPs a weight of the layers and token give
the share of the card's peak, which leaves out attention and the output. By likelihood that is prefill alone.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from benchmarks.gpu.material import SIZES, layer_weights, make_exam, make_model
from benchmarks.gpu.ways import Bench
from build_dataset.pipeline.evaluate.backends.local.backend import Engine
from build_dataset.pipeline.evaluate.params import TransformersModel

PEAKS = {"H100": 989e12, "H200": 989e12, "A100": 312e12, "A800": 312e12, "L40S": 362e12, "RTX 4090": 165e12}
"""Dense bf16 FLOP/s by the makers' data sheets."""


@dataclass(frozen=True)
class Measured:
    """One way's figures."""

    way: str
    shots: int
    questions: int
    seconds: float
    cpu_seconds: float
    tokens: int
    """Through the model."""

    def rate(self, *, cpu: bool) -> float:
        """Questions a second, of the clock or of the processor."""
        return self.questions / (self.cpu_seconds if cpu else self.seconds)


def measure(arguments: argparse.Namespace, folder: Path, device: str) -> Iterator[Measured]:
    """Every way, zero-shot and with three worked examples; says how many answers are those of ours."""
    exam = make_exam(arguments.questions)
    make_model(folder, arguments.size, [row.stem for row in exam.questions], device)
    options = TransformersModel(
        model=str(folder), devices=[device], max_tokens=arguments.new_tokens, batch_tokens=arguments.batch_tokens
    )
    bench = Bench(options, Engine(options, device), arguments.harness_batch)
    with _counted(bench.engine._model) as count:
        for shots in (0, 3):
            prompts = exam.prompts(shots)
            given: dict[str, dict[str, str]] = {}
            for name, way in bench.ways().items():
                asked = prompts[: arguments.loop_questions] if name == "loop" else prompts
                way(prompts[:1])  # what a first call sets up is not timed
                count[0], started, processor = 0, time.perf_counter(), time.process_time()
                given[name] = way(asked)
                spent, computed = time.perf_counter() - started, time.process_time() - processor
                yield Measured(name, shots, len(asked), spent, computed, count[0])
            for name, made in given.items():
                like = given["ours, likelihood" if "likelihood" in name else "ours, written"]
                same = sum(text == like[key] for key, text in made.items())
                print(f"{shots} shots, {name}: {same} of {len(made)} answers as ours")


@contextmanager
def _counted(model: Any) -> Iterator[list[int]]:
    """Counts the tokens that go through a model."""
    count = [0]

    def seen(_: Any, positional: tuple[Any, ...], named: dict[str, Any]) -> None:
        tokens = named.get("input_ids")
        count[0] += (positional[0] if tokens is None else tokens).numel()

    handle = model.register_forward_pre_hook(seen, with_kwargs=True)
    try:
        yield count
    finally:
        handle.remove()


def table(found: list[Measured], size: str, card: str) -> str:
    """The figures as Markdown; on a CPU rates are of processor time, as other work goes on beside."""
    peak = next((value for name, value in PEAKS.items() if name in card), None)
    cpu = card == "CPU"
    unit = "CPU s" if cpu else "s"
    lines = [
        f"| shots | way | questions/{unit} | × loop | × harness | tokens through the model | of bf16 peak |",
        "|---:|---|---:|---:|---:|---:|---:|",
    ]
    for row in found:
        same = {one.way: one for one in found if one.shots == row.shots}
        rates = [row.rate(cpu=cpu)]
        peers = [same["loop"], same.get(row.way.replace("ours", "harness").replace("loop", "harness, written"))]
        ratios = [f"{rates[0] / one.rate(cpu=cpu):.1f}" if one else "–" for one in peers]
        flops = 2 * layer_weights(size) * row.tokens / row.seconds
        share = f"{100 * flops / peak:.1f} %" if peak else "–"
        lines.append(f"| {row.shots} | {row.way} | {rates[0]:.1f} | {' | '.join(ratios)} | {row.tokens:,} | {share} |")
    return "\n".join(lines)


def main() -> None:
    """Measure and print."""
    torch = import_module("torch") if find_spec("torch") else None
    here = torch is not None and torch.cuda.is_available()
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", choices=sorted(SIZES), default="7b" if here else "25m")
    parser.add_argument("--questions", type=int, default=2000 if here else 140)
    parser.add_argument("--loop-questions", type=int, help="Fewer for the slow loop; rates are per question.")
    parser.add_argument("--new-tokens", type=int, default=16)
    parser.add_argument("--batch-tokens", type=int, default=65536 if here else 16384)
    parser.add_argument("--harness-batch", type=int, default=64 if here else 16)
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    if torch is None:
        parser.error('needs torch: pip install -e ".[local]"')
    card = torch.cuda.get_device_name() if here else "CPU"
    with tempfile.TemporaryDirectory() as folder:
        found = []
        for row in measure(arguments, Path(folder), "cuda:0" if here else "cpu"):
            found.append(row)
            print(f"{row.shots} shots, {row.way}: {row.questions} questions in {row.seconds:.1f} s", flush=True)
    told = f"{card}, torch {torch.__version__}, Qwen2.5-{arguments.size} with random weights"
    print(f"\n{told}, {arguments.questions} questions, {arguments.new_tokens} new tokens\n")
    print(table(found, arguments.size, card))
    if arguments.json:
        arguments.json.write_text(json.dumps([asdict(row) for row in found], indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
