"""Options of the annotate, review and calibrate stages."""

from pathlib import Path
from typing import Any, Literal, Self

from pydantic import NonNegativeInt, model_validator

from build_dataset.annotation.llm.options import LlmOptions
from build_dataset.schemas import errors, identity
from build_dataset.schemas.params import Address, Params, Person, Share, VariableName, non_semantic, option


class FormOptions(LlmOptions):
    """A model whose answers are JSON of a form."""

    response_format: Literal["json_schema", "json_object", "none"] = option(
        "json_schema",
        "How the answer's form is asked for: json_schema where the endpoint has structured output, "
        "otherwise json_object or none; answers are checked in any case.",
    )


class AnnotateLlmOptions(FormOptions):
    """The ``[annotate.llm]`` section: which model labels the questions, and how it is asked."""

    logprobs: bool = option(
        True,
        "Ask how probable each token of the answer was: the confidence of its labels. False for models that refuse it.",
    )
    samples: int = option(
        1,
        "Answers to each question; with several, a label's confidence is the share that agrees. Needs a temperature.",
        ge=1,
        le=25,
    )
    shots: int = option(0, "Reviewed questions to show as examples.", ge=0, le=32)

    @model_validator(mode="after")
    def _samples_differ(self) -> Self:
        if self.samples > 1 and self.send_temperature and self.temperature == 0:
            raise ValueError("samples above 1 need a temperature, e.g. 0.7: at 0 all answers are the same")
        return self


LEARN_FROM = 100  # reviewed questions from which auto prefers learned to lexicon


class AnnotateParams(Params):
    """The ``[annotate]`` section of ``dataset.toml``."""

    annotator: Literal["auto", "llm", "learned", "lexicon"] = option(
        "auto",
        "Who labels: llm; learned, offline, from labels that experts have reviewed; lexicon, offline and rough; "
        "auto: llm when [annotate.llm] names a model, otherwise learned when enough are reviewed, otherwise lexicon.",
    )
    reviewed: Path | None = non_semantic(
        None, "Questions labelled elsewhere to learn from, beside those reviewed here: CSV, JSONL or Parquet."
    )
    batch: bool = non_semantic(False, "Ask through the endpoint's Batch API: cheaper, within a day.")
    llm: AnnotateLlmOptions = AnnotateLlmOptions()

    def chosen(self, reviewed: int = 0) -> Literal["llm", "learned", "lexicon"]:
        """The annotator that will run: ``auto`` settled by what is configured and reviewed.

        A model that is named but cannot be asked is an error, never a reason for other labels than those wanted.
        """
        if self.annotator != "auto":
            return self.annotator
        return "llm" if self.llm.model else "learned" if reviewed >= LEARN_FROM else "lexicon"

    def learns(self) -> bool:
        """Return whether reviewed labels can change the result."""
        return self.llm.shots > 0 if self.chosen() == "llm" else self.annotator != "lexicon"

    def ignores(self) -> frozenset[str]:
        """Inputs that cannot change the labels: reviews, if neither examples nor learning use them."""
        return frozenset() if self.learns() else frozenset({"reviews/pulled", "reviews/asked"})

    def semantic(self) -> dict[str, Any]:
        """Return the settled options, without those of annotators that are not asked."""
        asks = self.chosen() == "llm"
        settled: dict[str, Any] = {"annotator": "llm" if asks else self.annotator}
        if asks:
            settled["llm"] = self.llm.semantic()
        if self.reviewed is not None and self.learns():
            settled["reviewed"] = file_digest(self.reviewed, "[annotate] reviewed")
        return settled


def file_digest(path: Path, option: str) -> str:
    """Hex SHA-256 of a file, for fingerprints in place of its path; ``option`` is what to correct without one."""
    try:
        return identity.file_sha256(path)
    except OSError as error:
        raise errors.UserError(f"{path}: {error.strerror}: correct {option}") from None


class ReviewParams(Params):
    """The ``[review]`` section of ``dataset.toml``."""

    reviewers: list[Person] = option([], "E-mails of the experts whose reviews count; everyone's when empty")
    adjudicators: list[Person] = option([], "E-mails of those who settle disputes and flags; not part of agreement")
    majority: bool = option(True, "Two of three experts settle a dispute")
    overlap: Share = option(1.0, "Share of questions that several experts review, drawn by lot; one the others")
    experts: int = non_semantic(2, "Experts for each question; with overlap below 1, for that share", ge=2, le=5)
    bootstrap: int = option(1000, "Resamples for the intervals of Krippendorff's alpha", ge=100, le=100_000)
    blind: Share = non_semantic(0.0, "Share of questions sent without labels, drawn by lot, to measure anchoring")
    assign: bool = non_semantic(False, "Give each of reviewers a project of their own with their part of the questions")
    quotas: dict[Person, NonNegativeInt] = non_semantic(
        {}, "With assign, the most questions of an expert; 0 for one who has stopped. The others share the rest"
    )
    gold: Path | None = non_semantic(None, "Labelled questions to mix in, to measure experts: CSV, JSONL or Parquet")
    priority: Literal["uncertainty", "order"] = non_semantic(
        "uncertainty", "What experts get first: what the annotator was least sure of, or the papers' order"
    )
    crops: bool = non_semantic(True, "Show the cut-out from the page beside questions that were read by OCR")
    url: Address = non_semantic("http://127.0.0.1:8080", "Address of Label Studio")
    api_key_env: VariableName = non_semantic("LABEL_STUDIO_API_KEY", "Environment variable that holds the API token")
    batch: int = non_semantic(500, "Questions in one import", ge=1, le=5000)
    timeout: float = non_semantic(120.0, "Seconds to wait for an answer of Label Studio", gt=0)

    def invites(self, person: str) -> bool:
        """Return whether the reviews of a person count."""
        return not self.reviewers or person in self.reviewers or person in self.adjudicators

    @model_validator(mode="after")
    def _consistent_people(self) -> Self:
        if both := sorted({*self.reviewers} & {*self.adjudicators}):
            raise ValueError(f"{both[0]} is among reviewers and adjudicators: nobody rules on their own labels")
        if len({*self.reviewers}) < len(self.reviewers):
            raise ValueError("somebody is twice among reviewers (capital letters do not count)")
        if strangers := sorted({*self.quotas} - {*self.reviewers}):
            raise ValueError(f"{strangers[0]} has a quota and is none of reviewers")
        if not self.reviewers and (self.assign or self.quotas):
            raise ValueError("assign and quotas need reviewers, the experts by e-mail")
        if self.overlap < 1 and not self.assign:
            raise ValueError("overlap below 1 needs assign = true: in one project for all, two answer each")
        return self


class CalibrateParams(Params):
    """The ``[calibrate]`` section of ``dataset.toml``."""

    target: float = option(0.9, "Wanted share of right labels among those taken without a second look.", gt=0, lt=1)
    others: list[Path] = non_semantic([], "To compare: annotations.parquet of builds with other annotators.")

    def semantic(self) -> dict[str, Any]:
        """Return the parameters with hashes of the other annotations in place of their paths."""
        return super().semantic() | {"others": [file_digest(path, "[calibrate] others") for path in self.others]}
