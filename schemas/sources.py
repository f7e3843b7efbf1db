"""Options of a tabular source in ``dataset.toml``: ``[sources."bank.xlsx"]``."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from schemas.params import Params


class SourceParams(Params):
    """Which column is what, where that cannot be found; every key is optional and wins over what is found."""

    stem: str | None = Field(None, description="Column of the stem")
    options: str | list[str] | None = Field(
        None, description="Column of all options, or the columns of one option each, A first"
    )
    answer: str | None = Field(None, description="Column of the key")
    answer_as: Literal["letters", "texts", "index_from_0", "index_from_1"] | None = Field(
        None, description="How the key is given"
    )
    explanation: str | None = Field(None, description="Column of the explanation")
    id: str | None = Field(None, description="Column of the source's own ids")
    type: str | None = Field(None, description="Column of the item type")
    shared: str | None = Field(None, description="Column of a case that several questions share")
    group: str | None = Field(None, description="Column that is equal for questions of one group")
    comment: str | None = Field(None, description="Column of comments")

    def columns(self) -> dict[str, str]:
        """Columns by role."""
        named = {name: value for name, value in self if name != "answer_as"}
        return {name: value for name, value in named.items() if isinstance(value, str)}

    def headers(self) -> set[str]:
        """Every column that is named."""
        return {*self.columns().values(), *(self.options if isinstance(self.options, list) else ())}
