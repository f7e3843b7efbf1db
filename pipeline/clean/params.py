"""Options of the clean stage."""

from importlib.resources import files
from typing import Literal

from build_dataset.pipeline.patterns import Patterns
from build_dataset.schemas.data import shipped_toml
from build_dataset.schemas.params import Params, option

PATTERNS = Patterns("validity", files("build_dataset.pipeline.clean"))


class CleanParams(Params):
    """The ``[clean]`` section of ``dataset.toml``."""

    figures: Literal["drop", "keep", "text"] = option(
        "drop", "Questions that need a figure; keep: exported with it, in a split of their own; text: kept without it."
    )
    keep_tables: bool = option(False, "Keep questions that need a table.")
    keep_formulas: bool = option(False, "Keep questions with a formula that could not be read.")
    min_options: int = option(2, "Fewest options a question may have.", ge=2)
    max_characters: int = option(20_000, "Most characters of stem, case and options.", ge=100)
    max_garbled: float = option(0.1, "Largest share of unreadable characters in a question's text.", ge=0, le=1)
    max_wrong: float = option(
        0.01, "Share of the kept questions of scans that may be wrong in a letter or digit; others wait.", ge=0, le=1
    )

    @property
    def least_confidence(self) -> float:
        """The confidence from which so few of the kept questions are wrong (``confidence.toml``)."""
        wrong, least = shipped_toml("build_dataset.pipeline.clean", "confidence.toml").values()
        return float(min(sure for share, sure in zip(wrong, least, strict=True) if share <= self.max_wrong))
