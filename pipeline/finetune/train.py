"""Tuning by recipe: one command, which continues after an interruption."""

import json
import shutil
from collections.abc import Sequence
from functools import partial
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal, NamedTuple

from pydantic import Field, ValidationError

from build_dataset.pipeline.evaluate.backends.local.encoder import NOT_READ, choice_batch
from build_dataset.pipeline.evaluate.backends.local.loading import fingerprint, pretrained, render
from build_dataset.pipeline.evaluate.prompting import load_template, messages, shipped_or_own
from build_dataset.pipeline.runtime.publish import write_json
from build_dataset.schemas.errors import UserError, first_problem
from build_dataset.schemas.evaluation import Task
from build_dataset.schemas.identity import sha256
from build_dataset.schemas.params import Params
from build_dataset.schemas.release import ReleaseRow

IGNORED = -100  # label of tokens that are read but not learned


class Lora(Params):
    """Low-rank adapters (Hu et al. 2021)."""

    rank: int = Field(8, ge=1)
    alpha: int = Field(16, ge=1)
    dropout: float = Field(0.05, ge=0, lt=1)


class Prefix(Params):
    """Trained keys and values before every layer (Liu et al. 2021)."""

    tokens: int = Field(128, ge=1)


class Encoder(Params):
    """A multiple-choice head over an encoder (Devlin et al. 2019)."""

    hidden_dropout: float = Field(0.4, ge=0, lt=1)


class Recipe(Params):
    """Settings of one way to tune."""

    method: Literal["lora", "prefix", "multiple_choice"]
    learning_rate: float = Field(gt=0)
    batch_size: int = Field(ge=1)
    epochs: float = Field(gt=0)
    max_input: int = Field(ge=8)
    max_target: int = Field(256, ge=1)
    prompt: str = "answer_only"  # template of causal models; its ``answer`` is what they learn to write
    seed: int = Field(20230605, ge=0, lt=2**32)
    lora: Lora = Lora()
    prefix: Prefix = Prefix()
    encoder: Encoder = Encoder()


def load_recipe(name: str) -> Recipe:
    """A shipped recipe by name, or one of the user's own by path."""
    content = shipped_or_own(files("build_dataset.pipeline.finetune") / "recipes", name, "recipe")
    try:
        return Recipe.model_validate(content)
    except ValidationError as error:
        raise UserError(f"recipe {name!r}, {first_problem(error)}") from None


class TrainingRows(NamedTuple):
    """The questions that training can use, and the number of those it cannot."""

    written: list[dict[str, list[int]]]
    """Tokens of a text with its continuation (``input_ids``), and those to be learned (``labels``)."""
    too_long: int
    incomplete: int  # questions without a key, or without an explanation if explanations are learned


def writing_examples(rows: Sequence[ReleaseRow], recipe: Recipe, tokenizer: Any) -> TrainingRows:
    """Every question with its answer as the template writes it; nothing is cut, what is too long is left out."""
    task = Task.EXPLANATION if recipe.prompt == "explanation" else Task.ANSWER
    template = load_template(recipe.prompt, task)
    chat = bool(tokenizer.chat_template)
    found, too_long, incomplete = [], 0, 0
    explains = "{explanation}" in template.answer
    for row in rows:
        if not row.answer or (explains and not row.explanation):
            incomplete += 1
            continue
        asked = render(messages(template, row, []), tokenizer, template=chat)
        # An example's turn is how a template writes the answer.
        target = messages(template, row, [row])[-2]["content"].strip()
        encoded = tokenizer([asked, asked + target], add_special_tokens=not chat)
        prompt, whole = map(list, encoded["input_ids"])
        answer = [*whole[len(prompt) :], tokenizer.eos_token_id]
        # a token across the border would be learned by half
        cut = len(prompt) > recipe.max_input or len(answer) > recipe.max_target
        if cut or whole[: len(prompt)] != prompt:
            too_long += 1
            continue
        found.append({"input_ids": prompt + answer, "labels": [IGNORED] * len(prompt) + answer})
    return TrainingRows(found, too_long, incomplete)


def tune(model: str, rows: Sequence[ReleaseRow], recipe: Recipe, out: Path) -> dict[str, Any]:
    """Train on the rows of the training split, into a folder.

    A checkpoint is kept every epoch; the same call goes on from the last one. When all is done the folder holds the
    weights (the adapter alone, where there is one) and ``training.json``, and the same call does nothing.
    """
    absent = [name for name in ("torch", "transformers", "peft", "accelerate") if find_spec(name) is None]
    if absent:
        raise UserError(f"fine-tuning needs {', '.join(absent)}: pip install -e '.[local]'")
    asked = _asked(model, rows, recipe)
    record = out / "training.json"  # there only when training has ended
    if record.is_file():
        done: dict[str, Any] = json.loads(record.read_text(encoding="utf-8"))
        if {key: done.get(key) for key in asked} == asked:  # tuned before, by the same recipe and rows
            return done
        raise UserError(f"{out}: holds weights that were tuned otherwise; name another folder with --out")
    note = out / "checkpoints" / "asked.json"  # what the checkpoints beside it were made of
    if note.is_file() and json.loads(note.read_text(encoding="utf-8")) != json.loads(json.dumps(asked)):
        raise UserError(f"{out}: holds the checkpoints of another training; name another folder with --out")
    note.parent.mkdir(parents=True, exist_ok=True)
    write_json(note, asked)
    from transformers import set_seed

    set_seed(recipe.seed)  # adapters and heads begin at random, before the trainer sets its own
    work = _encoder if recipe.method == "multiple_choice" else _causal
    said = {**asked, **work(model, rows, recipe, out)}
    write_json(record, said)
    return said


def _asked(model: str, rows: Sequence[ReleaseRow], recipe: Recipe) -> dict[str, Any]:
    """Everything that can change the weights."""
    return {
        "base": Path(model).name,
        "base_files": fingerprint(Path(model)) if Path(model).is_dir() else model,
        "recipe": recipe.semantic(),
        "train": sha256(*(row.model_dump_json() for row in rows)),
        "rows": len(rows),
    }


def _causal(model: str, rows: Sequence[ReleaseRow], recipe: Recipe, out: Path) -> dict[str, Any]:
    import torch
    from peft import LoraConfig, PrefixTuningConfig, TaskType, get_peft_model
    from transformers import AutoModelForCausalLM, AutoTokenizer, DataCollatorForSeq2Seq

    tokenizer = pretrained(AutoTokenizer, model, "tokenizer")
    if tokenizer.pad_token_id is None:  # Llama has none; padding is masked anyway
        tokenizer.pad_token = tokenizer.eos_token
    tokenizer.padding_side = "right"
    usable = writing_examples(rows, recipe, tokenizer)
    if not usable.written:
        raise UserError(
            f"none of the {len(rows)} questions of train can be used: {usable.too_long} are longer than max_input or "
            f"max_target, {usable.incomplete} lack what is to be learned"
        )
    kind = TaskType.CAUSAL_LM
    lora = {"r": recipe.lora.rank, "lora_alpha": recipe.lora.alpha, "lora_dropout": recipe.lora.dropout}
    config = PrefixTuningConfig(task_type=kind, num_virtual_tokens=recipe.prefix.tokens)
    if recipe.method == "lora":
        config = LoraConfig(task_type=kind, **lora)
    dtype = torch.bfloat16 if torch.cuda.is_available() else torch.float32
    tuned = get_peft_model(pretrained(AutoModelForCausalLM, model, "model", dtype=dtype), config)
    loss = _train(tuned, recipe, out, usable.written, DataCollatorForSeq2Seq(tokenizer))
    tuned.save_pretrained(out)
    left_out = {"too_long": usable.too_long, "incomplete": usable.incomplete}
    return {"learned": len(usable.written), **left_out, "loss": loss}


def _encoder(model: str, rows: Sequence[ReleaseRow], recipe: Recipe, out: Path) -> dict[str, Any]:
    from transformers import AutoModelForMultipleChoice, AutoTokenizer

    tokenizer = pretrained(AutoTokenizer, model, "tokenizer")
    usable = [row for row in rows if row.answer]
    if not usable:
        raise UserError(f"none of the {len(rows)} questions of train has a key to learn")
    dropout = recipe.encoder.hidden_dropout
    tuned = pretrained(AutoModelForMultipleChoice, model, "model", hidden_dropout_prob=dropout)
    collate = partial(choice_batch, tokenizer=tokenizer, longest=recipe.max_input)
    loss = _train(tuned, recipe, out, usable, collate, choosing=True)
    tuned.save_pretrained(out)
    tokenizer.save_pretrained(out)
    return {"learned": len(usable), "too_long": 0, "incomplete": len(rows) - len(usable), "loss": loss}


def _train(
    model: Any, recipe: Recipe, out: Path, data: Sequence[Any], collate: Any, *, choosing: bool = False
) -> float:
    import torch
    from transformers import Trainer, TrainingArguments
    from transformers.trainer_utils import get_last_checkpoint

    folder = out / "checkpoints"
    # sequences at once; gradients are added up to the batch
    step = min(recipe.batch_size, 16 if choosing else 8)
    settings = TrainingArguments(
        output_dir=str(folder),
        learning_rate=recipe.learning_rate,
        per_device_train_batch_size=step,
        gradient_accumulation_steps=max(1, recipe.batch_size // step),
        num_train_epochs=recipe.epochs,
        save_strategy="epoch",
        save_total_limit=1,
        bf16=torch.cuda.is_available(),
        seed=recipe.seed,
        data_seed=recipe.seed,
        report_to=[],
        logging_strategy="epoch",
        remove_unused_columns=False,
        label_names=["labels"],
    )
    kind = _choosing_trainer() if choosing else Trainer
    trainer = kind(model=model, args=settings, train_dataset=list(data), data_collator=collate)
    _remove_torn_checkpoints(folder)
    done = trainer.train(resume_from_checkpoint=get_last_checkpoint(str(folder)))
    return float(done.training_loss)


def _remove_torn_checkpoints(folder: Path) -> None:
    """Remove checkpoints that a killed run left half-written; the trainer's state is the last file of each."""
    for checkpoint in folder.glob("checkpoint-*"):
        try:
            json.loads((checkpoint / "trainer_state.json").read_text(encoding="utf-8"))
        except (OSError, ValueError):
            shutil.rmtree(checkpoint)


def _choosing_trainer() -> Any:
    from transformers import Trainer

    class ChoosingTrainer(Trainer):  # type: ignore[misc]
        """Softmax over the options where one is right (Devlin et al. 2019), each by itself where several are."""

        def compute_loss(self, model: Any, inputs: Any, return_outputs: bool = False, **_: Any) -> Any:
            loss, outputs = choice_loss(model, inputs)
            return (loss, outputs) if return_outputs else loss

    return ChoosingTrainer


def choice_loss(model: Any, inputs: dict[str, Any]) -> tuple[Any, Any]:
    """The loss of a batch made by ``choice_batch``."""
    from torch.nn.functional import binary_cross_entropy_with_logits, log_softmax

    outputs = model(**{name: inputs[name] for name in inputs.keys() - NOT_READ})
    # options that a question lacks get no probability
    logits = outputs.logits.float().masked_fill(~inputs["shown"], -1e4)
    right, shown = inputs["labels"].float(), inputs["shown"].float()
    one = -(log_softmax(logits, -1) * right).sum(-1)
    each = binary_cross_entropy_with_logits(logits, right, reduction="none")
    several = (each * shown).sum(-1) / shown.sum(-1)
    return one.where(~inputs["several"], several).mean(), outputs
