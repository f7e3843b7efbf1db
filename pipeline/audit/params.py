"""Options of the audit stage."""

from pathlib import Path
from typing import Any

from build_dataset.annotation.params import file_digest
from build_dataset.schemas.errors import UserError
from build_dataset.schemas.params import Params, non_semantic, option

_OPTION = "[audit] answers"


class AuditParams(Params):
    """The ``[audit]`` section of ``dataset.toml``."""

    answers: Path | None = non_semantic(
        None, 'Answers of other models, JSONL: "answers/*.jsonl", rows of id or question, options, model, answer.'
    )
    wrong: float = option(0.03, "Share of keys that are thought wrong before anything is known of them.", gt=0, lt=0.5)
    verify: float = option(0.5, "Questions from this suspicion on go to people with `review verify`.", gt=0, lt=1)
    shown: int = option(100, "Questions on the page, the most suspicious first.", ge=1, le=1000)

    def files(self) -> list[Path]:
        """The files with answers; a ``UserError`` where some are named and none is there."""
        if self.answers is None:
            return []
        paths = sorted(self.answers.parent.glob(self.answers.name))  # a pattern, or the name of one file
        if not paths:
            raise UserError(f"{_OPTION} = {self.answers}: no such file")
        return paths

    def semantic(self) -> dict[str, Any]:
        """Return the parameters with the hashes of the files in place of their paths."""
        return super().semantic() | {"answers": [file_digest(path, _OPTION) for path in self.files()]}
