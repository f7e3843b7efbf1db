"""Options of the proofread stage."""

from typing import Any

from pydantic import field_validator

from build_dataset.annotation.params import FormOptions
from build_dataset.schemas.data import shipped_toml
from build_dataset.schemas.params import non_semantic, option

PROMPT: dict[str, Any] = shipped_toml("build_dataset.pipeline.proofread", "prompt.toml")
KINDS: dict[str, str] = PROMPT["kinds"]  # of doubts, with what the reader is told of each


class ProofreadParams(FormOptions):
    """The ``[proofread]`` section of ``dataset.toml``; the stage is off while no model is named."""

    max_tokens: int = option(4096, "Most tokens of an answer: the doubts about all questions of a request.", ge=1)
    ignore: tuple[str, ...] = option((), f"Kinds of doubts that stop no question, of {', '.join(KINDS)}.")
    image: bool = option(False, "Also send the page's cut-out of questions read by OCR; for models that take pictures.")
    together: int = non_semantic(8, "Questions in one request.", ge=1, le=50)
    batch: bool = non_semantic(False, "Ask through the endpoint's Batch API: cheaper, within a day.")

    @field_validator("ignore")
    @classmethod
    def _known(cls, ignore: tuple[str, ...]) -> tuple[str, ...]:
        if unknown := sorted({*ignore} - KINDS.keys()):
            raise ValueError(f"no kind {unknown[0]}; known: {', '.join(KINDS)}")
        return ignore

    def off(self) -> str | None:
        """Say what to set where the stage does not run."""
        return None if self.model else 'proofread is off: name a model, [proofread] model = "…" in dataset.toml'
