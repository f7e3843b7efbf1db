"""Croissant metadata: what MLCommons' tools, and search engines, read (https://docs.mlcommons.org/croissant)."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from importlib.resources import files
from pathlib import PurePosixPath
from typing import Any

import polars as pl

from pipeline.export.formats import FORMATS
from pipeline.export.statistics import meanings
from schemas.dataset import DatasetParams
from schemas.release import ReleaseRow

VERSION = "http://mlcommons.org/croissant/1.0"
Outputs = Mapping[str, Mapping[str, Any]]

_TYPES = {
    pl.String(): "sc:Text",
    pl.Int64(): "sc:Integer",
    pl.Float64(): "sc:Float",
    pl.Boolean(): "sc:Boolean",
}
_MEDIA_TYPES = {".parquet": "application/x-parquet"} | {
    PurePosixPath(item.path).suffix: item.media_type for item in FORMATS
}
_CONTEXT = json.loads((files("pipeline.export") / "croissant.json").read_text(encoding="utf-8"))
"""The context that the specification prescribes (Croissant 1.0, appendix 1)."""


def croissant(dataset: DatasetParams, splits: Mapping[str, pl.DataFrame], outputs: Outputs) -> bytes:
    """The metadata as JSON-LD: the files with their checksums, and the columns of each split that holds questions.

    Args:
        dataset: name, licence and so on.
        splits: rows by split.
        outputs: ``sha256`` and ``bytes`` of every file, by name.
    """
    content: dict[str, Any] = {
        "@context": _CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": VERSION,
        "name": dataset.name,
        "alternateName": dataset.title,
        "description": dataset.description or f"Questions of {dataset.title or dataset.name}.",
        "inLanguage": dataset.language,
        "license": _licence(dataset.license),
        "url": dataset.homepage,
        "version": dataset.version,
        "datePublished": dataset.date,
        "creator": [{"@type": "sc:Organization", "name": name} for name in dataset.creators] or None,
        "citeAs": dataset.citation,
        "keywords": ["benchmark", "exam", "multiple-choice questions"],
        "isLiveDataset": False,
        "distribution": [_file(name, entry) for name, entry in sorted(outputs.items()) if _is_data(name)],
        "recordSet": [_record_set(split) for split, rows in splits.items() if rows.height],
    }
    given = {key: value for key, value in content.items() if value is not None}
    return (json.dumps(given, ensure_ascii=False, indent=2) + "\n").encode()


def _licence(name: str) -> str:
    """A licence's page, where its name is an identifier as Hugging Face and SPDX have them."""
    identifier = name.strip().lower()
    known = re.fullmatch(
        r"(apache|mit|cc0?|bsd|gpl|lgpl|agpl|odbl|odc|pddl|mpl|cdla|unlicense)([-.\w]*)", identifier
    )
    return f"https://choosealicense.com/licenses/{identifier}/" if known else name.strip()


def _is_data(name: str) -> bool:
    return PurePosixPath(name).suffix in _MEDIA_TYPES and name not in ("rejects.parquet", "review.parquet")


def _file(name: str, entry: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "@type": "cr:FileObject",
        "@id": name,
        "name": name,
        "contentUrl": name,
        "contentSize": f"{entry['bytes']} B",
        "encodingFormat": _MEDIA_TYPES[PurePosixPath(name).suffix],
        "sha256": entry["sha256"],
    }


def _record_set(split: str) -> dict[str, Any]:
    schema, explained = ReleaseRow.polars_schema(), meanings()
    return {
        "@type": "cr:RecordSet",
        "@id": split,
        "name": split,
        "description": f"Questions of the {split} split.",
        "key": {"@id": f"{split}/question_id"},
        "field": [_field(split, name, kind, explained[name]) for name, kind in schema.items()],
    }


def _field(split: str, name: str, kind: pl.DataType, description: str) -> dict[str, Any]:
    found: dict[str, Any] = {
        "@type": "cr:Field",
        "@id": f"{split}/{name}",
        "name": name,
        "description": description,
        "source": _source(split, name),
    }
    while isinstance(kind, pl.List):
        found["repeated"] = True
        kind = pl.Struct({}) if kind.inner is None else _instance(kind.inner)
    if isinstance(kind, pl.Struct):
        found["subField"] = [
            {
                "@type": "cr:Field",
                "@id": f"{split}/{name}/{part.name}",
                "name": part.name,
                "dataType": _TYPES[_instance(part.dtype)],
                "source": {**_source(split, name), "transform": {"jsonPath": part.name}},
            }
            for part in kind.fields
        ]
    else:
        found["dataType"] = _TYPES[kind]
    return found


def _source(split: str, column: str) -> dict[str, Any]:
    return {"fileObject": {"@id": f"{split}.parquet"}, "extract": {"column": column}}


def _instance(kind: Any) -> pl.DataType:
    found: pl.DataType = kind() if isinstance(kind, type) else kind
    return found
