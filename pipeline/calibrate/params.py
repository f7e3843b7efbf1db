"""Options of the calibrate stage."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

from pydantic import Field

from schemas.errors import UserError
from schemas.params import Params, knob


class CalibrateParams(Params):
    """The ``[calibrate]`` section of ``dataset.toml``."""

    target: float = Field(
        0.9,
        gt=0,
        lt=1,
        description="Share of right labels that is wanted of those taken without a second look.",
    )
    others: list[Path] = knob(
        [], "Further annotations to compare: annotations.parquet of builds with other annotators."
    )

    def semantic(self) -> dict[str, Any]:
        """With what the other annotations say in place of where they lie."""
        return super().semantic() | {"others": [_digest(path) for path in self.others]}


def _digest(path: Path) -> str:
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError as error:
        raise UserError(f"{path}: {error.strerror}: correct [calibrate] others") from None
