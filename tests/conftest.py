"""Shared by tests: a context without processes or files, the shared data, the sample built once."""

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from filelock import FileLock
from hypothesis import settings

from build_dataset.pipeline.stage import Failure
from build_dataset.schemas.dataset import DatasetParams
from build_dataset.schemas.errors import UnreadableDocument
from build_dataset.schemas.taxonomy import use_label_set

ROOT = Path(__file__).resolve().parents[1]
os.environ["LC_ALL"] = "C.UTF-8"  # messages are in English, whatever the developer speaks

# The same draws for everybody; `pytest --hypothesis-profile explore` looks further.
settings.register_profile("same", derandomize=True, deadline=None)
settings.register_profile("explore", max_examples=1000, deadline=None)
settings.load_profile("same")


@pytest.fixture(autouse=True)
def _cmexams_labels() -> Iterator[None]:
    """Every test begins with CMExam's labels, whatever configuration another one read in this process."""
    use_label_set(None)
    yield
    use_label_set(None)


@dataclass
class MemoryStore:
    """An item store in memory, JSON-like."""

    items: dict[str, Any] = field(default_factory=dict)
    puts: int = 0

    def get(self, key: str) -> Any | None:
        return self.items.get(key)

    def get_many(self, keys: Iterable[str]) -> dict[str, Any]:
        return {key: self.items[key] for key in keys if key in self.items}

    def put(self, key: str, value: Any) -> None:
        self.puts += 1
        self.items[key] = value


@dataclass
class FakeContext:
    """A context that maps in this process."""

    raw: Path
    build: Path
    dataset: DatasetParams
    store: MemoryStore = field(default_factory=MemoryStore)

    @property
    def seed(self) -> int:
        return self.dataset.seed

    @contextmanager
    def progress(self, total: int | None, what: str) -> Iterator[Callable[[int], None]]:
        yield lambda count=1: None

    def map(self, function, items, *, timeout=None):
        for item in items:
            try:
                yield item, function(item)
            except UnreadableDocument as error:
                yield item, Failure(error.reason, error.detail)


@pytest.fixture
def context(tmp_path: Path) -> FakeContext:
    raw, build = tmp_path / "raw", tmp_path / "build"
    raw.mkdir()
    build.mkdir()
    return FakeContext(raw, build, DatasetParams(name="test", raw=raw, build=build))


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """Real papers and reference outputs; they are not part of the project."""
    folder = Path(os.environ.get("BUILD_DATASET_SHARED_DATA", ROOT.parent / "shared" / "data"))
    if not folder.is_dir():
        pytest.skip("no shared data beside the project (set BUILD_DATASET_SHARED_DATA to its folder)")
    return folder


@pytest.fixture(scope="session")
def once(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str, Callable[[Path], None]], Path]:
    """Makes a folder once in a session, also where several workers (pytest-xdist) share it."""
    together = "PYTEST_XDIST_WORKER" in os.environ
    base = tmp_path_factory.getbasetemp().parent if together else tmp_path_factory.getbasetemp()

    def folder(name: str, make: Callable[[Path], None]) -> Path:
        done = base / f"{name}.done"
        with FileLock(base / f"{name}.lock"):
            if not done.exists():
                make(base / name)
                done.touch()
        return base / name

    return folder


@pytest.fixture(scope="session")
def sample_build(once: Callable[[str, Callable[[Path], None]], Path]) -> Path:
    """The build folder of the sample exam, made once by the real pipeline."""
    from build_dataset.pipeline.catalogue import STAGES
    from build_dataset.pipeline.config import load
    from build_dataset.pipeline.runtime.runner import Runner

    def make(build: Path) -> None:
        config = load(ROOT / "dataset.toml", {"dataset.build": str(build)})
        Runner(config).run([stage.name for stage in STAGES])

    return once("sample", make)
