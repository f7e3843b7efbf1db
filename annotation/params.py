"""Options of the annotate and review stages."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from annotation.llm.options import LlmOptions
from schemas.params import Address, Params, VariableName, knob


class AnnotateLlmOptions(LlmOptions):
    """The ``[annotate.llm]`` section: which model labels the questions, and how it is asked."""

    response_format: Literal["json_schema", "json_object", "none"] = Field(
        "json_schema",
        description="How the answer's form is asked for: json_schema where the endpoint has structured "
        "output, otherwise json_object or none; labels are checked in any case.",
    )
    one_dimension_a_call: bool = Field(
        False, description="Ask for each dimension on its own, as CMExam did: about twice the tokens."
    )


class AnnotateParams(Params):
    """The ``[annotate]`` section of ``dataset.toml``."""

    annotator: Literal["auto", "llm", "lexicon"] = Field(
        "auto",
        description="Who labels: llm; lexicon, offline and rough; auto: llm when [annotate.llm] names a "
        "model, otherwise lexicon.",
    )
    llm: AnnotateLlmOptions = AnnotateLlmOptions()

    def chosen(self) -> Literal["llm", "lexicon"]:
        """The annotator that will run: ``auto`` settled by what is configured.

        A model that is named but cannot be asked is an error, never a reason for other labels than those wanted.
        """
        if self.annotator == "auto":
            return "llm" if self.llm.model else "lexicon"
        return self.annotator

    def semantic(self) -> dict[str, Any]:
        """As settled, without the options of an LLM that is not asked."""
        settled: dict[str, Any] = {"annotator": self.chosen()}
        return settled | ({"llm": self.llm.semantic()} if self.chosen() == "llm" else {})


class ReviewParams(Params):
    """The ``[review]`` section of ``dataset.toml``."""

    reviewers: list[str] = Field(
        default_factory=list,
        description="E-mails of the experts whose reviews count; everyone's when empty",
    )
    adjudicators: list[str] = Field(
        default_factory=list,
        description="E-mails of those whose review settles disputes and flags; they do not enter agreement",
    )
    majority: bool = Field(True, description="Two of three experts settle a dispute")
    bootstrap: int = Field(
        1000, description="Resamples for the intervals of Krippendorff's alpha", ge=100, le=100_000
    )
    url: Address = knob("http://127.0.0.1:8080", "Address of Label Studio")
    project: str | None = knob(None, "Title of the project there; made from dataset.name when absent")
    api_key_env: VariableName = knob("LABEL_STUDIO_API_KEY", "Environment variable that holds the API token")
    batch: int = knob(500, "Questions in one import", ge=1, le=5000)
    timeout: float = knob(120.0, "Seconds to wait for an answer of Label Studio", gt=0)
