"""Options of the annotate and review stages."""

from __future__ import annotations

from pydantic import Field

from annotation.annotate_params import AnnotateParams
from schemas.params import Params, knob

__all__ = ["AnnotateParams", "ReviewParams"]


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
    url: str = knob("http://127.0.0.1:8080", "Address of Label Studio", pattern=r"^https?://")
    project: str | None = knob(None, "Title of the project there; made from dataset.name when absent")
    api_key_env: str = knob("LABEL_STUDIO_API_KEY", "Environment variable that holds the API token")
    batch: int = knob(500, "Questions in one import", ge=1, le=5000)
    timeout: float = knob(120.0, "Seconds to wait for an answer of Label Studio", gt=0)
