"""Options of the leaks stage."""

from pathlib import Path
from typing import Any

from build_dataset.pipeline.leaks.files import READERS
from build_dataset.schemas.identity import file_sha256, is_ignored
from build_dataset.schemas.params import Params, option


class LeaksParams(Params):
    """The ``[leaks]`` section of ``dataset.toml``."""

    benchmarks: Path | None = option(
        None,
        "A folder with public benchmarks (JSON, JSONL, CSV, TSV, Parquet): questions that share a run "
        "of tokens with them are listed",
    )
    ngram: int = option(13, "Tokens of a shared run (as GPT-3's): Chinese characters and Latin words", ge=5, le=50)
    common: int = option(10, "Runs that more of the questions than this have are set phrases and do not count", ge=1)
    copied: float = option(0.8, "Share of a question's tokens from which it counts as copied (Llama 2's)", gt=0, le=1)
    similar: float = option(0.9, "Stems and options that are this similar must not be in two splits", ge=0.8, le=1)

    def files(self) -> list[tuple[str, Path]]:
        """The files of the benchmarks that can be read, by name relative to their folder."""
        if (folder := self.benchmarks) is None:
            return []
        paths = [folder] if folder.is_file() else folder.rglob("*")
        home = folder.parent if folder.is_file() else folder  # names in tables are relative to it
        known = (path for path in paths if path.is_file() and path.suffix.lower() in READERS)
        named = sorted((path.relative_to(home).as_posix(), path) for path in known)
        return [(name, path) for name, path in named if not is_ignored(name)]

    def semantic(self) -> dict[str, Any]:
        """Return the parameters with the hashes of the benchmarks in place of their paths."""
        parameters = super().semantic()
        if self.benchmarks is not None:
            parameters["benchmarks"] = [f"{name} {file_sha256(path)}" for name, path in self.files()] or ["nothing"]
        return parameters
