"""Parameters of the report stage."""

from build_dataset.schemas.params import Params, option


class ReportParams(Params):
    """The ``[report]`` section. What is shown is capped, what is counted never is."""

    examples: int = option(3, "Examples shown of each reason", ge=0, le=100)
    pairs: int = option(6, "Pairs shown side by side of each kind of duplicate", ge=0, le=100)
    answers: int = option(300, "Questions on the page of models' answers, those they disagree on first", ge=0, le=5000)
    characters: int = option(400, "Characters shown of one text", ge=40, le=20_000)
    figures: bool = option(True, "Draw the figures, as .svg and .png")
