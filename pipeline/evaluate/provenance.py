"""``run.json``: how an evaluation was made, so that two of them can be compared line by line."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from importlib.metadata import version
from typing import Any

from pipeline.evaluate.backends import Generation
from pipeline.evaluate.params import Asked, EvaluateParams, OpenAiModel
from pipeline.evaluate.prompting import load_template
from schemas.evaluation import Prediction
from schemas.identity import sha256

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
