"""What a dataset is called and where it lives."""

from __future__ import annotations

from pathlib import Path

from pydantic import Field

from schemas.params import Params, knob


class DatasetParams(Params):
    """The ``[dataset]`` section."""

    name: str = Field(description="Short name of the dataset: letters, digits, - and _", pattern=r"^[\w.-]+$")
    title: str | None = Field(None, description="Title for people")
    description: str | None = Field(None, description="One paragraph for the dataset card")
    language: str = Field("zh", description="Language of the questions (ISO 639-1)")
    license: str = Field("other", description="Licence of the questions, as Hugging Face names it")
    homepage: str | None = Field(None, description="Where the dataset lives")
    version: str = Field("0.1.0", description="Version of the release", pattern=r"^\d+\.\d+\.\d+$")
    seed: int = Field(20230605, description="Seed of everything that draws lots", ge=0, lt=2**32)
    raw: Path = knob(Path("raw"), "Folder with the exam papers")
    build: Path = knob(Path("build"), "Folder for everything that is made")
