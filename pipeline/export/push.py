"""Putting a release on a hub of datasets, by huggingface_hub."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pipeline.runtime.publish import MANIFEST, read_manifest
from schemas.dataset import DatasetParams
from schemas.errors import UserError
from schemas.identity import file_sha256


@dataclass(frozen=True)
class Upload:
    """What is, or would be, uploaded."""

    repo: str
    endpoint: str
    files: dict[str, int]
    """Bytes by path."""


def plan(dataset: DatasetParams, repo: str) -> Upload:
    """Return what an upload of the release of ``dataset.version`` would send; asks the hub nothing.

    Raises:
        UserError: there is no such release, a file of it was changed, or the name is none.
    """
    from huggingface_hub import constants
    from huggingface_hub.utils import HFValidationError, validate_repo_id

    try:
        validate_repo_id(repo)
    except HFValidationError:
        raise UserError(f"--push {repo}: write it as ORG/NAME") from None
    if repo.count("/") != 1:
        raise UserError(f"--push {repo}: write it as ORG/NAME")
    folder = dataset.releases / dataset.version
    manifest = read_manifest(folder)
    if manifest is None:
        raise UserError(f"no release in {folder}: run `build-dataset release` first")
    for name, entry in manifest["outputs"].items():
        if not (folder / name).is_file() or file_sha256(folder / name) != entry["sha256"]:
            raise UserError(
                f"{folder / name} is not as it was released: put it back, or release a new version"
            )
    wanted = sorted([*manifest["outputs"], MANIFEST])
    return Upload(repo, constants.ENDPOINT, {name: (folder / name).stat().st_size for name in wanted})


def push(dataset: DatasetParams, upload: Upload) -> str:
    """Upload the files in one commit, tag it with the version, and return the commit's address.

    A repository that is not there is made, private: whether questions may be public is for people to decide.

    Raises:
        UserError: the hub does not accept it; what went wrong, in one line.
    """
    from huggingface_hub import HfApi
    from huggingface_hub.errors import HfHubHTTPError

    api: Any = HfApi(endpoint=upload.endpoint)
    where: dict[str, Any] = {"repo_id": upload.repo, "repo_type": "dataset"}
    try:
        api.create_repo(**where, private=True, exist_ok=True)
        done = api.upload_folder(
            **where,
            folder_path=str(Path(dataset.releases / dataset.version)),
            allow_patterns=[*upload.files],
            commit_message=f"Release {dataset.version}",
        )
        api.create_tag(**where, tag=dataset.version, revision=done.oid, exist_ok=True)
    except HfHubHTTPError as error:
        raise UserError(f"{upload.endpoint} did not take the release: {_line(error)}") from None
    except (OSError, ValueError) as error:
        raise UserError(f"{upload.endpoint} cannot be used: {_line(error)}") from None
    return str(done.commit_url)


def _line(error: Exception) -> str:
    """What an error says, in one line."""
    said = [line for line in str(error).strip().splitlines() if line.strip()]
    return (said or [type(error).__name__])[-1][:200]
