"""The promises of every executor, checked on a Ray cluster of two machines."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from build_dataset.pipeline.runtime.ray_executor import RayExecutor

HERE = Path(__file__).resolve().parents[1] / "pipeline" / "runtime"
sys.path.insert(0, str(HERE))
from ray_cluster import MISSING, RayCluster, ray_cluster  # noqa: E402

from tests.pipeline.runtime.test_executor import *  # noqa: E402, F403

pytestmark = pytest.mark.skipif(MISSING is not None, reason=str(MISSING))


@pytest.fixture(scope="module")
def cluster() -> Iterator[RayCluster]:
    with ray_cluster(2) as found:
        yield found


@pytest.fixture
def executor(cluster: RayCluster, monkeypatch: pytest.MonkeyPatch) -> Iterator[RayExecutor]:
    for name, value in cluster.environment.items():
        monkeypatch.setenv(name, value)
    found = RayExecutor(cluster.address, 2, shared=HERE)
    yield found
    found.close()
