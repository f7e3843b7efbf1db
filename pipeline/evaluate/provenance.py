"""The settings and the provenance of a run, for tables, manifests and ``run.json``."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import version
from typing import Any

from pipeline.evaluate.backends import Generation
from pipeline.evaluate.params import Asked, EvaluateParams, LocalModel, OpenAiModel
from pipeline.evaluate.prompting import load_template
from pipeline.evaluate.results.view import prompt_name
from pipeline.evaluate.scoring import accepted
from schemas.evaluation import Prediction
from schemas.identity import content_hash, sha256
from schemas.release import ReleaseRow


@dataclass(frozen=True)
class Asking:
    """A run's model and manner."""

    model: str
    """The same for all runs of a model."""
    task: str = "answer"
    prompt: str = ""
    shots: int = 0
    repeats: int = 1
    shuffles: int = 0
    temperature: float = 0.0

    @property
    def setting(self) -> str:
        """The manner of asking, for people."""
        prompt = prompt_name(self.prompt)
        return " · ".join(filter(None, (prompt, f"{self.shots}-shot", f"T = {self.temperature:g}")))


def asking(options: Asked) -> Asking:
    """Return the settings of a configured model."""
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
    """Return a hash of the questions: ids, texts and the answers that earn the mark, wherever they are stored."""
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
    known: dict[str, dict[str, Any]] = {run: {"model": run} | dict(told.get(run, {})) for run in runs}
    return {run: Asking(**found) for run, found in known.items()}


_FORMAT = 1


def told_of(identity: Mapping[str, Any], made: Iterable[Generation]) -> dict[str, Any]:
    """Return what is known of a run's model: what it is, what its server calls it, what its outputs were made with."""
    names: set[str] = set()
    made_with: dict[str, set[str]] = {}
    for one in made:
        names |= {one.model} if one.model else set()
        for library, found in (one.made_with or {}).items():
            made_with.setdefault(library, set()).add(found)
    return {
        "identity": dict(identity),
        "reported": sorted(names),
        "made_with": {library: sorted(found) for library, found in sorted(made_with.items())},
    }


def libraries(told: Mapping[str, Mapping[str, Any]]) -> dict[str, list[str]]:
    """Return the versions of torch, transformers, vllm … that outputs were made with, over all runs."""
    found: dict[str, set[str]] = {}
    for each in told.values():
        for library, versions in each["made_with"].items():
            found.setdefault(library, set()).update(versions)
    return {library: sorted(versions) for library, versions in sorted(found.items())}


def run_file(
    params: EvaluateParams,
    told: Mapping[str, Mapping[str, Any]],
    predictions: Sequence[Prediction],
    questions: str,
) -> bytes:
    """Return the file: what was asked, and of each run its options, template, model and prompts.

    Args:
        params: of the stage.
        told: see ``told_of``, by run.
        predictions: of all runs.
        questions: the fingerprint of the questions.
    """
    prompts: dict[str, list[str]] = {}
    for row in predictions:
        prompts.setdefault(row.run, []).append(row.prompt_hash or "")
    content = {
        "format": _FORMAT,
        "build_dataset": version("build-dataset"),
        "split": params.split,
        "limit": params.limit,
        "questions": questions,
        "runs": {
            options.run_name(): {
                "options": options.semantic(),
                "template": _template(options),
                **told[options.run_name()],
                # The endpoint answers; the library only carries.
                **({"client": {"openai": version("openai")}} if isinstance(options, OpenAiModel) else {}),
                "prompts": len(prompts.get(options.run_name(), ())),
                "prompts_sha256": sha256(*sorted(prompts.get(options.run_name(), ()))),
            }
            for options in params.all_models()
        },
    }
    return (json.dumps(content, ensure_ascii=False, indent=2, sort_keys=True) + "\n").encode()


def _template(options: Asked) -> dict[str, Any]:
    template = load_template(options.template(), options.task)
    return {"name": options.template(), "version": template.version, "sha256": sha256(repr(template))}
