"""Inputs of stages: tables of earlier stages, and computed ones that no stage writes, with their content hashes."""

import json
import os
from collections.abc import Callable, Iterator, Set
from contextlib import suppress
from functools import partial
from itertools import takewhile
from pathlib import Path

import polars as pl
from pydantic import ValidationError

from build_dataset.pipeline.archives import is_archive, unpack
from build_dataset.pipeline.catalogue import STAGES
from build_dataset.pipeline.config import ConfigBase
from build_dataset.pipeline.releases import every_release, hashes_of, read_release, release_files
from build_dataset.pipeline.runtime.publish import intact_manifest, read_table
from build_dataset.pipeline.stage import Stage
from build_dataset.schemas import annotations, base, documents, evaluation, release
from build_dataset.schemas.dataset import DatasetParams
from build_dataset.schemas.errors import UserError
from build_dataset.schemas.identity import ROW_PREFIX, file_sha256, is_hidden, is_ignored, sha256

MANIFESTS = "build/manifests"
_ABSENT = "absent"  # stands for the hash of an optional table
PULLED = Path("reviews") / "pulled.parquet"
CORRECTIONS = Path("reviews") / "corrections.parquet"
ANSWER_SCORES = Path("reviews") / "answer_scores.parquet"
SETTLED = Path("reviews") / "settled.parquet"


def raw_files(dataset: DatasetParams) -> pl.DataFrame:
    """Return the raw files by path, without hidden ones and notes; a ``UserError`` where none can be read."""
    if not dataset.raw.is_dir():
        raise UserError(f"no raw folder {dataset.raw}: make it and put exam papers there, or set dataset.raw")
    path = dataset.raw
    files = []
    try:
        for name, path in sorted(papers(dataset).items()):  # by name: the same on every file system
            files.append(documents.RawFile(document=name, sha256=file_sha256(path), bytes=path.stat().st_size))
    except OSError as error:
        raise UserError(f"{error.filename or path} cannot be read: {error.strerror}") from None
    if not files:
        raise UserError(f"nothing to read in {dataset.raw}: put exam papers there (PDF, images, DOCX, JSON, CSV, XLSX)")
    return documents.RawFile.to_frame(files)


def papers(dataset: DatasetParams) -> dict[str, Path]:
    """The raw files by their names in the tables: of an archive its members, and itself where one was not unpacked."""
    skipped = {folder.resolve() for folder in (dataset.build, dataset.releases, dataset.raw)}
    named = {_name(path, dataset.raw): path for path in _walk(dataset.raw, skipped)}
    for name in [name for name, path in named.items() if is_archive(path)]:
        unpacked = unpack(named[name], dataset.build)
        if not unpacked.refused:  # what was refused is rejected in its name
            del named[name]
        named |= {f"{name}/{member}": path for member, path in unpacked.members.items()}
    return named


def files_of_releases(dataset: DatasetParams) -> pl.DataFrame:
    """Return the files of all releases, the previous one last; none before the first."""
    return documents.RawFile.to_frame(
        documents.RawFile(document=f"{folder.name}/{name}", sha256=file_sha256(path), bytes=path.stat().st_size)
        for folder in every_release(dataset)
        for name, path in release_files(folder).items()
    )


def released_ids(dataset: DatasetParams) -> pl.DataFrame:
    """The ids of rows of tables in all releases, by which a file is known again that was renamed."""
    columns = ("question_id", "document", "stem", "shared_stem", "options")
    parts = [release.ReleasedId.to_frame([])]
    for folder in every_release(dataset):
        with suppress(UserError):  # a release of others may lack the columns
            rows = read_release(folder, columns).filter(pl.col("question_id").str.starts_with(ROW_PREFIX))
            parts.append(rows.select("document", "question_id", hashes_of(rows).alias("content_hash")))
    return pl.concat(parts).unique().sort(pl.all())


def manifests(dataset: DatasetParams) -> pl.DataFrame:
    """Return the manifests of all stages but those that read this table, and those that are off and never ran."""
    rows = []
    for stage in (stage for stage in STAGES if MANIFESTS not in stage.reads):
        manifest = intact_manifest(dataset.build / stage.name)
        # Hashes of it are left out: what matters of them shows.
        shown = {key: value for key, value in (manifest or {}).items() if key not in ("fingerprint", "seal")}
        text = json.dumps(shown, ensure_ascii=False, sort_keys=True) if manifest else None
        if manifest or not stage.params().off():
            rows.append(documents.StageManifest(stage=stage.name, title=stage.title, manifest=text))
    return documents.StageManifest.to_frame(rows)


def _pulled(place: Path, record: type[base.Record], command: str, dataset: DatasetParams) -> pl.DataFrame:
    """Return a table of people's work, later columns with defaults; a ``UserError`` where a row cannot be read."""
    path = dataset.build / place
    if not path.exists():
        return record.to_frame([])
    frame = read_table(path)
    with suppress(ValidationError):
        rows = list(record.from_frame(frame))
        if len(rows) == frame.height:  # from_frame passes over rows of other versions
            return record.to_frame(rows)
    raise UserError(f"{path} is changed or of another version: move it away and run `build-dataset {command} --full`")


SOURCES: dict[str, Callable[[DatasetParams], pl.DataFrame]] = {
    "raw/files": raw_files,
    "reviews/pulled": partial(_pulled, PULLED, annotations.ExpertReview, "review pull"),
    "reviews/asked": partial(_pulled, Path("reviews") / "asked.parquet", annotations.AskedQuestion, "review pull"),
    "reviews/corrections": partial(_pulled, CORRECTIONS, annotations.Correction, "review pull"),
    "reviews/answer_scores": partial(_pulled, ANSWER_SCORES, evaluation.AnswerScore, "score-answers pull"),
    "reviews/settled": partial(_pulled, SETTLED, annotations.SettledDoubt, "review sheet import"),
    MANIFESTS: manifests,
    "releases/files": files_of_releases,
    "releases/ids": released_ids,
}


def _name(path: Path, raw: Path) -> str:
    """Return the name of a file in tables; a ``UserError`` where it is no text, or this locale cannot read it."""
    name = path.relative_to(raw).as_posix()
    with suppress(UnicodeEncodeError):
        name.encode()
        return name
    content = os.fsencode(name)
    try:
        shown = content.decode()
    except UnicodeDecodeError:
        shown = content.decode("gb18030", errors="replace")  # archives from Chinese Windows
        raise UserError(f"the name of a file in {raw} is not UTF-8 (in GBK: {shown}): rename it") from None
    raise UserError(f"{shown}: this locale reads no such names: run with PYTHONUTF8=1, or LANG=C.UTF-8")


def _walk(folder: Path, skip: Set[Path]) -> Iterator[Path]:
    """The papers in a folder; ``skip`` are folders, all above ``folder`` included: links may lead back to them."""
    for path in folder.iterdir():
        if is_hidden(path.name):
            continue
        if path.is_dir():
            if (real := path.resolve()) not in skip:  # links in a circle
                yield from _walk(path, skip | {real})
        elif path.is_file() and not is_ignored(path.name):
            yield path


class Inputs:
    """Tables and their hashes; a source is computed once, however many stages read it."""

    def __init__(self, config: ConfigBase) -> None:
        self._config = config
        self._build = config.dataset.build
        self._sources: dict[str, pl.DataFrame] = {}

    def tables(self, stage: Stage) -> dict[str, pl.DataFrame]:
        """Return a stage's inputs by table name; optional ones by their whole reference."""
        hashes = self.hashes(stage)
        needed = {reference.partition("/")[2]: self._table(reference) for reference in stage.reads}
        there = [reference for reference in _optional(stage) if hashes[reference] != _ABSENT]
        return needed | {reference: self._table(reference) for reference in there}

    def hashes(self, stage: Stage) -> dict[str, str]:
        """Return the content hash of a stage's inputs, by reference, without those that cannot change its result."""
        ignored = self._config.params(stage.name).ignores()  # an option may switch an input off
        needed: dict[str, str] = {}
        for name in (name for name in stage.reads if name not in ignored):
            digest = sha256(self._table(name).write_json()) if name in SOURCES else self._written(name)
            if digest is None:
                maker = name.partition("/")[0]
                raise UserError(f"{stage.name} needs the result of {maker}: run `build-dataset run --to {maker}` first")
            needed[name] = digest
        return needed | {name: self._written(name) or _ABSENT for name in _optional(stage)}

    def _table(self, reference: str) -> pl.DataFrame:
        if reference not in SOURCES:
            return read_table(self._build / f"{reference}.parquet")
        if reference not in self._sources or reference == MANIFESTS:  # which change while stages run
            self._sources[reference] = SOURCES[reference](self._config.dataset)
        return self._sources[reference]

    def _written(self, reference: str) -> str | None:
        """The hash of a table; None where its stage has not run, or has no such table."""
        maker, _, table = reference.partition("/")
        manifest = intact_manifest(self._build / maker) or {"outputs": {}}
        written: dict[str, str] = manifest["outputs"].get(f"{table}.parquet", {})
        return written.get("sha256")


def _optional(stage: Stage) -> Iterator[str]:
    """References of the tables that a stage reads where they are there."""
    for reference in stage.optional:
        maker, _, table = reference.partition("/")
        yield from (f"{name}/{table}" for name in (_before(stage) if maker == "*" else [maker]))  # */rejects


def upstream_stages(stage: Stage) -> set[str]:
    """The names of the stages before it whose results a stage reads."""
    read = {reference.partition("/")[0] for reference in (*stage.reads, *_optional(stage))}
    return set(_before(stage)) if MANIFESTS in stage.reads else read.intersection(_before(stage))


def _before(stage: Stage) -> list[str]:
    return [earlier.name for earlier in takewhile(lambda earlier: earlier.name != stage.name, STAGES)]
