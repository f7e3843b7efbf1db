"""Questions a second of the ``transformers`` backend beside a batch loop as CMB's README describes it.

    python -m benchmarks.gpu.throughput [--size 7b] [--questions 2000] [--new-tokens 16] [--json FILE]

Makes a model of Qwen2.5's architecture with random weights on this machine, and questions of realistic length, so that
nothing is downloaded. Every way answers the same questions on the same card, zero-shot and with three worked examples:

- *loop*: three prompts at a time in the order of the file, padded, written by ``generate``;
- *text*: ours, written: batches by length and token budget, the worked examples read once;
- *likelihood*: ours, the likeliest option letter in one forward pass.

Random weights never end a text, so every written answer has ``--new-tokens`` tokens in both ways. The share of the
card's peak counts 2 FLOPs a weight and prompt token that the questions hold, whoever reads them how often: reading
the worked examples once can bring it above what the arithmetic units did.
"""

from __future__ import annotations

import argparse
import json
import random
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from pipeline.evaluate.backends.base import Setting
from pipeline.evaluate.backends.local.backend import TransformersBackend
from pipeline.evaluate.backends.local.engine import Engine, load_tokenizer
from pipeline.evaluate.backends.local.rendering import render
from pipeline.evaluate.params import TransformersModel
from pipeline.evaluate.prompting import Prompt, load_template, messages
from schemas.questions import Option
from schemas.release import ReleaseRow
from schemas.taxonomy import dimensions

SIZES: dict[str, dict[str, int]] = {
    "7b": {
        "hidden_size": 3584,
        "intermediate_size": 18944,
        "num_hidden_layers": 28,
        "num_attention_heads": 28,
        "num_key_value_heads": 4,
        "vocab_size": 152064,
    },
    "0.5b": {
        "hidden_size": 896,
        "intermediate_size": 4864,
        "num_hidden_layers": 24,
        "num_attention_heads": 14,
        "num_key_value_heads": 2,
        "vocab_size": 151936,
    },
    "tiny": {
        "hidden_size": 64,
        "intermediate_size": 128,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "vocab_size": 8192,
    },
}
"""Qwen2.5's dimensions; ``tiny`` tries the script out on a CPU."""
PEAKS = {"H100": 989e12, "H200": 989e12, "A100": 312e12, "A800": 312e12, "L40S": 362e12, "RTX 4090": 165e12}
"""Dense bf16 FLOP/s by the makers' data sheets."""
_CHARACTERS = (
    "患者男女岁病史发热咳嗽血压心率检查诊断治疗首选药物手术急性慢性"
    "肝肾肺胃肠骨折感染细菌抗生素下列哪项正确最可能的是不宜"
)
_LETTERS = "ABCDE"


@dataclass(frozen=True)
class Measured:
    """One way's figures."""

    way: str
    shots: int
    questions: int
    seconds: float
    prompt_tokens: int

    @property
    def rate(self) -> float:
        """Questions a second."""
        return self.questions / self.seconds


def question(number: int, draw: random.Random) -> ReleaseRow:
    """A question whose stem is as long as CMExam's are: median 18 characters, quartiles 12 and 32 (table 2)."""
    length = max(6, min(300, round(draw.lognormvariate(3.0, 0.75))))
    options = [
        Option(label=letter, text=_text(draw, draw.randint(2, 14)) + str(number)) for letter in _LETTERS
    ]
    nothing = dict.fromkeys(ReleaseRow.model_fields) | {
        f"{name}_status": "unreviewed" for name in dimensions()
    }
    return ReleaseRow.model_validate(
        nothing
        | {
            "question_id": f"bench-{number:06}",
            "question_type": "A1",
            "stem": _text(draw, length),
            "options": options,
            "answer": ["A"],
            "document": "benchmark",
            "exam_type": "医师考试",
            "exam_class": f"考试{number % 28}",
        }
    )


def _text(draw: random.Random, length: int) -> str:
    return "".join(draw.choices(_CHARACTERS, k=length))


def make_model(folder: Path, size: str, texts: list[str], device: str) -> None:
    """Random weights in the architecture, and a byte-level tokenizer trained on the questions."""
    import torch
    from tokenizers import Tokenizer, models, pre_tokenizers, trainers
    from transformers import AutoModelForCausalLM, Qwen2Config, Qwen2Tokenizer

    inner = Tokenizer(models.BPE())
    inner.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    trainer = trainers.BpeTrainer(
        vocab_size=4096,
        special_tokens=["<|endoftext|>"],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    inner.train_from_iterator(texts, trainer)
    trained = json.loads(inner.to_str())["model"]
    merges = [tuple(pair) if isinstance(pair, list) else tuple(pair.split(" ")) for pair in trained["merges"]]
    tokenizer = Qwen2Tokenizer(vocab=trained["vocab"], merges=merges, eos_token="<|endoftext|>")
    tokenizer.pad_token = tokenizer.eos_token
    tokenizer.save_pretrained(folder)
    config = Qwen2Config(**SIZES[size], max_position_embeddings=8192, tie_word_embeddings=False)
    config.eos_token_id = None  # no text ends before its last token
    dtype = torch.bfloat16 if device.startswith("cuda") else torch.float32
    with torch.device(device):
        model = AutoModelForCausalLM.from_config(config, dtype=dtype)
    model.save_pretrained(folder)


def loop(engine: Engine, texts: list[str], new_tokens: int, device: str) -> int:
    """Three prompts at a time, padded, in the order of the file; returns the prompts' tokens."""
    import torch

    tokens = 0
    engine.tokenizer.padding_side = "left"
    for start in range(0, len(texts), 3):
        batch = engine.tokenizer(texts[start : start + 3], return_tensors="pt", padding=True).to(device)
        batch.pop("token_type_ids", None)
        tokens += int(batch["attention_mask"].sum())
        with torch.inference_mode():
            engine._model.generate(
                **batch,
                max_new_tokens=new_tokens,
                do_sample=False,
                pad_token_id=engine.tokenizer.pad_token_id,
            )
    return tokens


class _Store(dict[str, Any]):
    """Keeps nothing beyond the run."""

    def get_many(self, keys: Any) -> dict[str, Any]:  # noqa: ARG002
        return {}

    def put(self, key: str, value: Any) -> None:
        self[key] = value


class _Context:
    def __init__(self) -> None:
        self.store = _Store()


def ours(options: TransformersModel, prompts: list[Prompt]) -> int:
    """The backend as the evaluate stage calls it, loading included; returns the prompts' tokens."""
    backend = TransformersBackend(options, Setting(_Context(), []))  # type: ignore[arg-type]
    made = list(backend.generate(prompts, lambda _: None))
    failed = [one.failure for one in made if one.failure]
    assert not failed, failed[0]
    return sum(one.prompt_tokens or 0 for one in made)


def measure(arguments: argparse.Namespace, folder: Path, device: str) -> Iterator[Measured]:
    """Every way, zero-shot and with three worked examples."""
    draw = random.Random(20230605)
    rows = [question(number, draw) for number in range(arguments.questions)]
    examples = [question(number, draw) for number in range(10**6, 10**6 + 3)]
    template = load_template("answer_only")
    texts = [message["content"] for row in rows[:500] for message in messages(template, row, [])]
    make_model(folder, arguments.size, texts, device)
    options = TransformersModel(
        model=str(folder),
        devices=[device],
        max_tokens=arguments.new_tokens,
        batch_tokens=arguments.batch_tokens,
    )
    chosen = options.model_copy(update={"answer_by": "likelihood"})
    for shots in (0, 3):
        prompts = [Prompt(row.question_id, messages(template, row, examples[:shots]), row) for row in rows]
        engine = Engine(options, device, load_tokenizer(options))
        plain = [render(prompt.messages, engine.tokenizer, template=False) for prompt in prompts]
        few = plain[: arguments.loop_questions or len(plain)]
        loop(engine, few[:6], arguments.new_tokens, device)  # warm
        yield _timed(
            "loop",
            shots,
            len(few),
            lambda few=few, engine=engine: loop(engine, few, arguments.new_tokens, device),
        )
        del engine
        for way, settings in (("text", options), ("likelihood", chosen)):
            yield _timed(
                way, shots, len(prompts), lambda settings=settings, prompts=prompts: ours(settings, prompts)
            )


def _timed(way: str, shots: int, questions: int, work: Callable[[], int]) -> Measured:
    started = time.perf_counter()
    tokens = work()
    return Measured(way, shots, questions, time.perf_counter() - started, tokens)


def weights(size: str) -> int:
    """Weights that every token passes: layers and the output, without the embedding."""
    d = SIZES[size]
    head = d["hidden_size"] // d["num_attention_heads"]
    attention = 2 * d["hidden_size"] ** 2 + 2 * d["hidden_size"] * head * d["num_key_value_heads"]
    return d["num_hidden_layers"] * (attention + 3 * d["hidden_size"] * d["intermediate_size"])


def table(found: list[Measured], size: str, card: str) -> str:
    """The figures as Markdown."""
    peak = next((value for name, value in PEAKS.items() if name in card), None)
    lines = [
        "| shots | way | questions/s | × loop | prompt tokens/s | of bf16 peak |",
        "|---:|---|---:|---:|---:|---:|",
    ]
    for row in found:
        base = next(one for one in found if one.way == "loop" and one.shots == row.shots)
        speed = row.prompt_tokens / row.seconds
        share = f"{100 * 2 * weights(size) * speed / peak:.1f} %" if peak else "–"
        lines.append(
            f"| {row.shots} | {row.way} | {row.rate:.1f} | {row.rate / base.rate:.1f} | {speed:,.0f} | {share} |"
        )
    return "\n".join(lines)


def main() -> None:
    """Measure and print."""
    import torch

    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--size", choices=sorted(SIZES), default="7b" if torch.cuda.is_available() else "tiny"
    )
    parser.add_argument("--questions", type=int, default=2000 if torch.cuda.is_available() else 60)
    parser.add_argument("--loop-questions", type=int, help="Fewer for the slow loop; rates are per question.")
    parser.add_argument("--new-tokens", type=int, default=16)
    parser.add_argument("--batch-tokens", type=int, default=65536)
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    device = "cuda:0" if torch.cuda.is_available() else "cpu"
    card = torch.cuda.get_device_name() if torch.cuda.is_available() else "CPU"
    with tempfile.TemporaryDirectory() as folder:
        found = list(measure(arguments, Path(folder), device))
    print(f"{card}, Qwen2.5-{arguments.size} with random weights, {arguments.new_tokens} new tokens\n")
    print(table(found, arguments.size, card))
    if arguments.json:
        arguments.json.write_text(json.dumps([asdict(row) for row in found], indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
