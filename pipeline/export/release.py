"""Releases: freezing a folder, uploading it to a hub."""

import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from build_dataset.annotation.label_studio.editable import VERDICT
from build_dataset.pipeline.releases import parse_version
from build_dataset.pipeline.runtime.publish import MANIFEST, read_manifest
from build_dataset.pipeline.stage import Tables
from build_dataset.schemas import annotations, identity, places
from build_dataset.schemas.dataset import DatasetParams
from build_dataset.schemas.errors import UserError
from build_dataset.schemas.questions import SPLITS, Rejection
from build_dataset.schemas.release import ReleaseRow, label_columns
from build_dataset.schemas.taxonomy import DIFFICULTY, dimensions


def freeze(dataset: DatasetParams, states: Mapping[str, str]) -> dict[str, Any]:
    """Copy the export with all manifests into the folder of releases, whole or not at all; ``UserError``: not ready."""
    target = dataset.releases / dataset.version
    if target.exists():
        raise UserError(f"{dataset.version} is released already ({target}){_what_then(dataset)}")
    states = {name: state for name, state in states.items() if state != "off"}
    manifest = _ready(dataset, states)
    facts: dict[str, Any] = manifest["facts"]["release"]
    temporary = target.with_name(f".{target.name}.new")  # beside it, so that the rename is atomic
    shutil.rmtree(temporary, ignore_errors=True)
    try:
        shutil.copytree(dataset.build / "export", temporary)
        (temporary / "manifests").mkdir()
        for stage in states:
            shutil.copyfile(dataset.build / stage / MANIFEST, temporary / "manifests" / f"{stage}.json")
        for name in _changed(temporary, manifest):
            raise UserError(f"{name} of the export was changed after it was made: run `build-dataset export --force`")
        temporary.rename(target)  # from here on it is a release
    except OSError as error:
        reason = error.args[0][0][-1] if isinstance(error, shutil.Error) else error.strerror
        raise UserError(f"{target} cannot be written: {reason}; nothing was released") from None
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
    return facts


def _what_then(dataset: DatasetParams) -> str:
    """Return what to do about a version that is taken, by the export's changes since."""
    made = read_manifest(dataset.build / "export")
    facts = made["facts"]["release"] if made else {}
    if facts.get("previous") != dataset.version:  # the export was made on another release
        return ": set dataset.version to a higher one"
    if not any(facts["changes"].values()):
        return ", and the export has not changed since: there is nothing to release"
    return f": for what changed since, set dataset.version to {facts['suggested']}"


def _manifest(folder: Path) -> dict[str, Any]:
    if (manifest := read_manifest(folder)) is None:
        raise UserError(f"no {MANIFEST} in {folder}: run `build-dataset run --to export` first")
    return manifest


def _ready(dataset: DatasetParams, states: Mapping[str, str]) -> dict[str, Any]:
    """Return the export's manifest, when all stages are done, nothing leaks and the version fits what changed."""
    for stage, state in states.items():
        if state == "incomplete":
            raise UserError(f"{stage} is not complete: run `build-dataset {stage}` again before a release")
        if state != "done":
            raise UserError(f"{stage} is {state}: run `build-dataset run --to export` before a release")
    manifest = _manifest(dataset.build / "export")
    across = _manifest(dataset.build / "leaks")["facts"]["across_splits"]  # exact and near copies
    if any(across.values()):
        raise UserError(
            f"{across['exact']} exact and {across['near']} near duplicates stand in two splits: see "
            f"{dataset.build / 'leaks' / 'leaks.parquet'}; merge them or take them out before a release"
        )
    facts = manifest["facts"]["release"]
    suggested = facts["suggested"]
    if suggested and parse_version(dataset.version) < parse_version(suggested):
        raise UserError(
            f"since {facts['previous']} there are {facts['level']} changes: set dataset.version to {suggested} or "
            "above, run `build-dataset export`, then release"
        )
    return manifest


def _changed(folder: Path, manifest: Mapping[str, Any]) -> Iterator[str]:
    """The files that are gone or do not have the manifest's checksums."""
    for name, entry in manifest["outputs"].items():
        if not (folder / name).is_file() or identity.file_sha256(folder / name) != entry["sha256"]:
            yield name


def release(tables: Tables) -> tuple[dict[str, pl.DataFrame], list[Rejection]]:
    """Return the released rows of each split, sorted by ``question_id``, and what cannot be released."""
    rows = tables["assignments"].select("question_id", "split").join(tables["questions"], on="question_id")
    answered = pl.col("answer").list.len().fill_null(0) > 0
    unanswered = rows.filter(~answered)["question_id"].sort().to_list()
    rows = rows.filter(answered)
    clusters = tables["clusters"].group_by("question_id").agg(pl.col("cluster_id").min())
    # The parts of a question that people corrected; not who, and no part that was found right as it was.
    part = pl.col("field").str.replace(f"^{places.OPTION}.*$", "options")
    changes = tables["corrections"].filter(pl.col("field") != VERDICT)
    corrected = changes.group_by("question_id").agg(corrected=part.unique().sort())
    statuses = pl.col([f"{name}_status" for name in dimensions()]).fill_null(annotations.LabelStatus.UNREVIEWED.value)
    rows = (
        rows.join(_labels(tables["labels"]), on="question_id", how="left", validate="1:1")
        .join(clusters, on="question_id", how="left")
        .join(corrected, on="question_id", how="left")
        .join(_sources(tables), on="question_id", how="left")
        .with_columns(pl.col("corrected").fill_null([]), statuses)
        .sort("question_id")
    )
    schema = ReleaseRow.polars_schema()
    released = {name: rows.filter(pl.col("split") == name).select(schema.names()).cast(schema) for name in SPLITS}
    why = {"reason": "no_answer", "detail": "No answer key is known; a released question needs one."}
    return released, [Rejection(item_id=name, stage="export", **why) for name in unanswered]


def _labels(labels: pl.DataFrame) -> pl.DataFrame:
    """The columns of labels of each question, whether difficulty is a guess, and who gave the labels no expert gave."""
    if labels.select("question_id", "dimension").is_duplicated().any():
        raise ValueError("a question has two labels in one dimension")
    known, annotated = pl.col("label").is_not_null(), pl.col("annotator").is_not_null()  # null: none was given
    parts = ("label", "label_en", "status")
    each = [(name, *pair) for name in dimensions() for pair in zip(parts, label_columns(name), strict=True)]
    columns = [pl.col(part).filter(pl.col("dimension") == name).first().alias(column) for name, part, column in each]
    guess = pl.col("estimate").filter((pl.col("dimension") == DIFFICULTY) & known).first()
    names = pl.col("annotator").filter(known & annotated).unique().sort()
    joined = pl.when(names.len() > 0).then(names.str.join(", "))
    return labels.group_by("question_id").agg(*columns, difficulty_estimate=guess, annotator=joined)


def _sources(tables: Tables) -> pl.DataFrame:
    """Every place where each question stands, those of the copies merged into it included."""
    # After the decisions of people: a question that waited in the parser's doubts is none of the parser's questions.
    read = tables.get("clean/questions", tables["questions"])
    merged = tables["merges"].select("question_id", "survivor_id")
    row, page = pl.when(pl.col("pages").is_null()).then("number"), pl.col("pages").list.first()
    return (
        read.select("question_id", "document", "number", "pages")
        .join(merged, on="question_id", how="left")
        .sort("document", "number", "question_id")
        .group_by(question_id=pl.coalesce("survivor_id", "question_id"), maintain_order=True)
        .agg(sources=pl.struct("document", row=row, page=page))
    )


@dataclass(frozen=True)
class Upload:
    """The files of an upload."""

    repo: str
    endpoint: str
    files: dict[str, int]  # bytes by path


def plan_upload(dataset: DatasetParams, repo: str) -> Upload:
    """Return what an upload of this version's release would send, or a ``UserError``; asks the hub nothing."""
    from huggingface_hub import constants
    from huggingface_hub.utils import HFValidationError, validate_repo_id

    try:
        validate_repo_id(repo if repo.count("/") == 1 else "")
    except HFValidationError:
        raise UserError(f"--push {repo}: write it as ORG/NAME") from None
    folder = dataset.releases / dataset.version
    if (manifest := read_manifest(folder)) is None:
        raise UserError(f"no release in {folder}: run `build-dataset release` first")
    for name in _changed(folder, manifest):
        raise UserError(f"{folder / name} is not as it was released: put it back, or release a new version")
    wanted = sorted([*manifest["outputs"], MANIFEST])  # nothing that lies beside them
    return Upload(repo, constants.ENDPOINT, {name: (folder / name).stat().st_size for name in wanted})


def push_release(dataset: DatasetParams, upload: Upload) -> str:
    """Upload the files in one tagged commit, to a private repository if there is none; return its address."""
    from huggingface_hub import HfApi
    from huggingface_hub.errors import HfHubHTTPError

    api: Any = HfApi(endpoint=upload.endpoint)
    where: dict[str, Any] = {"repo_id": upload.repo, "repo_type": "dataset"}
    try:
        api.create_repo(**where, private=True, exist_ok=True)
        what = {"folder_path": str(Path(dataset.releases / dataset.version)), "allow_patterns": [*upload.files]}
        done = api.upload_folder(**where, **what, commit_message=f"Release {dataset.version}")
        api.create_tag(**where, tag=dataset.version, revision=done.oid, exist_ok=True)
    except HfHubHTTPError as error:
        raise UserError(f"{upload.endpoint} did not take the release: {_line(error)}") from None
    except (OSError, ValueError) as error:
        raise UserError(f"{upload.endpoint} cannot be used: {_line(error)}") from None
    return str(done.commit_url)


def _line(error: Exception) -> str:
    lines = [line for line in str(error).strip().splitlines() if line.strip()]
    return (lines or [type(error).__name__])[-1][:200]  # the hub says last what was wrong
