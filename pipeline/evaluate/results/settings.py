"""How each run was asked, so that tables can put the same model's settings side by side."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from pipeline.evaluate.params import Asked, LocalModel
from pipeline.evaluate.results.names import prompt_name
from pipeline.evaluate.scoring import accepted
from schemas.identity import content_hash, sha256
from schemas.release import ReleaseRow


@dataclass(frozen=True)
class Asking:
    """A run's model and manner."""

    model: str
    """The same for all runs of a model."""
    task: str
    prompt: str
    shots: int
    repeats: int
    shuffles: int
    temperature: float = 0.0

    @property
    def setting(self) -> str:
        """How the model was asked, for people."""
        prompt = prompt_name(self.prompt)
        return " · ".join(filter(None, (prompt, f"{self.shots}-shot", f"T = {self.temperature:g}")))


def asking(options: Asked) -> Asking:
    """How a configured model is asked."""
    name = getattr(options, "model", None) or getattr(options, "name", None) or type(options).__name__
    model = str(name).rstrip("/").rpartition("/")[2]
    if adapter := getattr(options, "adapter", None):
        model += f"+{str(adapter).rstrip('/').rpartition('/')[2]}"
    if isinstance(options, LocalModel) and options.answer_by == "likelihood":
        model += f" by {options.compared()}"
    return Asking(
        model=model,
        task=options.task.value,
        prompt=options.template(),
        shots=options.shots,
        repeats=options.repeats,
        shuffles=options.shuffles,
        temperature=getattr(options, "temperature", 0.0),
    )


def fingerprint(questions: Iterable[ReleaseRow]) -> str:
    """What was asked: ids, texts and the answers that earn the mark, wherever and however they are stored."""
    return sha256(
        *sorted(
            " ".join(
                (
                    row.question_id,
                    content_hash(row.stem, (option.text for option in row.options), row.shared_stem),
                    *sorted("".join(sorted(key)) for key in accepted(row)),
                )
            )
            for row in questions
        )
    )


def facts(askings: Mapping[str, Asking]) -> dict[str, Any]:
    """For the manifest."""
    return {run: asdict(found) for run, found in askings.items()}


def from_facts(told: Mapping[str, Any], runs: Sequence[str]) -> dict[str, Asking]:
    """From a manifest; runs that it does not tell of are models of their own."""
    plain: dict[str, Any] = {
        "task": "answer",
        "prompt": "",
        "shots": 0,
        "repeats": 1,
        "shuffles": 0,
    }
    return {run: Asking(**({"model": run} | plain | dict(told.get(run, {})))) for run in runs}
