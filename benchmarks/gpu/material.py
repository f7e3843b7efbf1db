"""Questions of realistic length, and a model of Qwen2.5's architecture with random weights: nothing is downloaded."""

from __future__ import annotations

import json
import random
from dataclasses import dataclass
from pathlib import Path

from build_dataset.pipeline.evaluate.prompting import Prompt, load_template, messages
from build_dataset.schemas.questions import Option
from build_dataset.schemas.release import ReleaseRow
from build_dataset.schemas.taxonomy import dimensions

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
    "25m": {
        "hidden_size": 512,
        "intermediate_size": 1408,
        "num_hidden_layers": 8,
        "num_attention_heads": 8,
        "num_key_value_heads": 2,
        "vocab_size": 32000,
    },
}
"""Qwen2.5's dimensions; ``25m`` is a small one of the same kind, for a CPU."""
LETTERS = "ABCDE"
_CLASS_SIZE = 70
"""Questions that share worked examples; CMB asks 400 of each of its 28 subcategories."""
_CHARACTERS = (
    "患者男女岁病史发热咳嗽血压心率检查诊断治疗首选药物手术急性慢性"
    "肝肾肺胃肠骨折感染细菌抗生素下列哪项正确最可能的是不宜"
)


@dataclass(frozen=True)
class Exam:
    """Questions and, of each subcategory, worked examples."""

    questions: list[ReleaseRow]
    examples: dict[str, list[ReleaseRow]]

    def prompts(self, shots: int) -> list[Prompt]:
        """Every question as it is asked after so many worked examples."""
        template = load_template("answer_only")
        return [
            Prompt(row.question_id, messages(template, row, self.examples[row.exam_class or ""][:shots]), row)
            for row in self.questions
        ]


def make_exam(count: int) -> Exam:
    """``count`` questions with a single answer, the same every time."""
    draw = random.Random(20230605)
    classes = [f"考试{number}" for number in range(max(1, count // _CLASS_SIZE))]
    return Exam(
        [_question(number, classes[number % len(classes)], draw) for number in range(count)],
        {
            name: [_question(10**6 + 3 * place + each, name, draw) for each in range(3)]
            for place, name in enumerate(classes)
        },
    )


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


def layer_weights(size: str) -> int:
    """Weights that every token passes: those of the layers, without embedding and output."""
    d = SIZES[size]
    head = d["hidden_size"] // d["num_attention_heads"]
    attention = 2 * d["hidden_size"] ** 2 + 2 * d["hidden_size"] * head * d["num_key_value_heads"]
    return d["num_hidden_layers"] * (attention + 3 * d["hidden_size"] * d["intermediate_size"])


def _question(number: int, exam_class: str, draw: random.Random) -> ReleaseRow:
    """A question whose stem is as long as CMExam's are: median 18 characters, quartiles 12 and 32 (table 2)."""
    length = max(6, min(300, round(draw.lognormvariate(3.0, 0.75))))
    options = [Option(label=letter, text=_text(draw, draw.randint(2, 14)) + str(number)) for letter in LETTERS]
    needed = (name for name, field in ReleaseRow.model_fields.items() if field.is_required())
    nothing = dict.fromkeys(needed) | {f"{name}_status": "unreviewed" for name in dimensions()}
    return ReleaseRow.model_validate(
        nothing
        | {
            "question_id": f"bench-{number:07}",
            "question_type": "A1",
            "stem": _text(draw, length),
            "options": options,
            "answer": ["A"],
            "document": "benchmark",
            "exam_type": "医师考试",
            "exam_class": exam_class,
        }
    )


def _text(draw: random.Random, length: int) -> str:
    return "".join(draw.choices(_CHARACTERS, k=length))
