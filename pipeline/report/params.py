"""Parameters of the report stage."""

from __future__ import annotations

from pydantic import Field

from schemas.params import Params


class ReportParams(Params):
    """The ``[report]`` section. What is shown is capped, what is counted never is."""

    examples: int = Field(3, description="Examples shown of each reason", ge=0, le=100)
    pairs: int = Field(
        6, description="Pairs shown side by side of each kind of duplicate or twin", ge=0, le=100
    )
    conflicts: int = Field(20, description="Conflicting answer keys shown", ge=0, le=1000)
    answers: int = Field(
        300,
        description="Questions on the page of models' answers, those they disagree on first",
        ge=0,
        le=5000,
    )
    characters: int = Field(400, description="Characters shown of one text", ge=40, le=20_000)
    figures: bool = Field(True, description="Draw the figures, as .svg and .png")
