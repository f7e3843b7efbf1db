"""The ``[dataset]`` section, name, licence, folders; options of tabular sources, ``[sources."bank.xlsx"]``."""

import datetime
from pathlib import Path
from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from build_dataset.schemas.params import Params, Share, non_semantic, option


def _date(value: str) -> str:
    if datetime.date.fromisoformat(value).isoformat() != value:
        raise ValueError("must be written as 2026-11-22")
    return value


class DatasetParams(Params):
    """The ``[dataset]`` section."""

    name: str = Field(description="Short name of the dataset: letters, digits, - and _", pattern=r"^[\w.-]+$")
    title: str | None = option(None, "Title for people")
    description: str | None = option(None, "One paragraph for the dataset card")
    language: str = option("zh", "Language of the questions (ISO 639-1)")
    license: str = option("other", "Licence of the questions, as Hugging Face names it")
    licenses: dict[str, str] = option({}, "Licences of sources, by file or folder under raw, for the card")
    homepage: str | None = option(None, "Where the dataset lives")
    version: str = option("0.1.0", "The release's semantic version", pattern=r"^[0-9]{1,9}(\.[0-9]{1,9}){2}$")
    date: Annotated[str, AfterValidator(_date)] | None = option(None, "Date of the release, e.g. 2026-11-22")
    creators: list[str] = option([], "Who made the dataset: people or organisations")
    citation: str | None = option(None, "How to cite it: BibTeX or a sentence")
    labels: Path | None = non_semantic(
        None, "TOML file of the dataset's own label set (docs/labels.md); CMExam's five dimensions when absent"
    )
    seed: int = option(20230605, "Seed of everything that draws lots", ge=0, lt=2**32)
    raw: Path = non_semantic(Path("raw"), "Folder with the exam papers")
    build: Path = non_semantic(Path("build"), "Folder for everything that is made")
    releases: Path = non_semantic(Path("releases"), "Folder of releases; the highest version is the previous release")
    loss_alarm: Share = non_semantic(0.2, "Share of a file's questions, rejected or waiting, that brings a warning")


Acceptable = Literal[
    "answer_in_text", "case_inside", "case_missing", "copies_differ", "count_differs", "empty_place",
    "explanation_disagrees", "flat_power", "foot_inside", "keys_alike", "label_inside_text", "may_hold_another",
    "missing_number", "option_too_long", "options_alike", "options_repeat", "options_too_many", "repeated_text",
    "room_inside", "stems_alike", "text_left_over",
]  # fmt: skip
"""Doubts about what reads well as it is: one look at the source may settle them for all its questions."""


class SourceParams(Params):
    """Roles of columns, and doubts, that are settled by hand; every key is optional and wins over what is found."""

    stem: str | None = option(None, "Column of the stem")
    options: str | list[str] | None = option(None, "Column of all options, or the columns of one option each, A first")
    answer: str | None = option(None, "Column of the key")
    answer_as: Literal["letters", "texts", "index_from_0", "index_from_1"] | None = option(None, "How the key is given")
    explanation: str | None = option(None, "Column of the explanation")
    id: str | None = option(None, "Column of the source's own ids")
    type: str | None = option(None, "Column of the item type")
    shared: str | None = option(None, "Column of a case that several questions share")
    group: str | None = option(None, "Column that is equal for questions of one group")
    comment: str | None = option(None, "Column of comments")
    ignore: list[str] = option([], "Columns of long texts that are no part of a question")
    furniture: list[str] = option([], "Texts printed at many of its items that are no part of them; they are cut off")
    accept: list[Acceptable] = option([], "Reasons that a person has looked at: they stop none of its questions")
    explanations: Literal["ignore"] | None = option(None, "No explanation speaks against a key: it lists wrong options")
    join_images: Literal["auto", "never", "always"] | None = option(
        None, "Of a folder of pictures: whether they are the pages of one paper, as [ocr] join_images"
    )

    def columns(self) -> dict[str, str]:
        """Columns by role."""
        settings = ("answer_as", "explanations", "join_images")
        named = {name: value for name, value in self if name not in settings}
        return {name: value for name, value in named.items() if isinstance(value, str)}

    def headers(self) -> set[str]:
        """Every column that is named."""
        return {*self.columns().values(), *self.ignore, *(self.options if isinstance(self.options, list) else ())}
