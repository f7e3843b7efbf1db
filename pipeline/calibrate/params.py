"""Options of the calibrate stage."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pydantic import Field

from annotation.params import file_digest
from schemas.params import Params, non_semantic


class CalibrateParams(Params):
    """The ``[calibrate]`` section of ``dataset.toml``."""

    target: float = Field(
        0.9,
        gt=0,
        lt=1,
        description="Share of right labels that is wanted of those taken without a second look.",
    )
    others: list[Path] = non_semantic(
        [], "Further annotations to compare: annotations.parquet of builds with other annotators."
    )

    def semantic(self) -> dict[str, Any]:
        """With what the other annotations say in place of where they lie."""
        return super().semantic() | {
            "others": [file_digest(path, "[calibrate] others") for path in self.others]
        }
