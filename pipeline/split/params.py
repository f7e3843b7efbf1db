"""Options of the split stage."""

from difflib import get_close_matches
from fractions import Fraction
from typing import Literal

from pydantic import Field, field_validator

from build_dataset.schemas.params import Params, option
from build_dataset.schemas.taxonomy import dimensions, label_set

COLUMNS = ("question_type", "exam_type", "exam_class", "exam_subject", "document", "folder")
"""Columns of questions that can stratify, beside the dimensions of annotation; the folder is that of the document."""


class SplitParams(Params):
    """The ``[split]`` section of ``dataset.toml``."""

    method: Literal["ratio", "per_subcategory"] = option(
        "ratio",
        "ratio: train, validation and test by ratios; per_subcategory: so many test and validation "
        "questions of every subcategory, the rest train (CMB)",
    )
    subcategory: str = option(
        "exam_class", "Subcategories of method per_subcategory: a column (exam_class, folder, document) or a dimension"
    )
    one_per_cluster_in_test: bool = option(
        False,
        "Keep one question of each family of twins in test; the others are left out, with the reason twin_in_test",
    )
    ratios: str = option("8:1:1", "train:validation:test, for method ratio", pattern=r"^\d{1,6}(:\d{1,6}){2}$")
    stratify_by: list[str] = Field(
        default_factory=lambda: [
            "exam_class",
            "medical_discipline" if label_set().has_cmexam else next(iter(dimensions())),
            "question_type",
        ],
        description="Proportions hold in every combination of these: dimensions (medical_discipline, …) or "
        "columns (exam_class, question_type, …); the last is given up first where strata get too small",
    )
    test_per_subcategory: int = option(400, "Test questions a subcategory, for method per_subcategory", ge=0)
    development_per_subcategory: int = option(10, "Validation questions a subcategory (method per_subcategory)", ge=0)
    min_stratum: int = option(10, "Strata with fewer questions are pooled into 其他/other with their neighbours", ge=1)
    seed: int | None = option(None, "Seed of this stage; the dataset's when absent", ge=0, lt=2**32)

    @field_validator("ratios")
    @classmethod
    def _train_gets_something(cls, ratios: str) -> str:
        if ratios.split(":")[0].strip("0") == "":
            raise ValueError("train needs a share above 0, e.g. 8:1:1")
        return ratios

    @field_validator("stratify_by", "subcategory")
    @classmethod
    def _known(cls, names: list[str] | str) -> list[str] | str:
        known = [*dimensions(), *COLUMNS]
        for name in [names] if isinstance(names, str) else names:
            if name not in known:
                near = get_close_matches(name, known, n=1)
                hint = f"did you mean {near[0]}?" if near else f"known: {', '.join(known)}"
                raise ValueError(f"cannot stratify by {name!r}; {hint}")
        if isinstance(names, list) and len(set(names)) < len(names):
            raise ValueError("name each only once")
        return names

    def shares(self) -> tuple[Fraction, ...]:
        """The ratios as shares of 1: train, validation, test."""
        parts = [int(part) for part in self.ratios.split(":")]  # "8:1:1"
        return tuple(Fraction(part, sum(parts)) for part in parts)
