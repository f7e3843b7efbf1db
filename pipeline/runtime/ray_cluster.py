"""The connection to a Ray cluster, and what stands in its way."""

from __future__ import annotations

import logging
import os
import re
import socket
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from schemas.errors import UserError
from schemas.wording import counted

INSTALL = "pip install -e '.[ray]'"
_PATIENCE = 5.0  # seconds for the head to take a connection
_ADDRESS = re.compile(r"auto|\[?[\w.:-]+\]?:\d{1,5}")


@dataclass(frozen=True)
class ClusterResources:
    """Total resources of a cluster, free or in use."""

    machines: int
    cpus: float
    gpus: float

    def room(self, gpus: float) -> int:
        """Return the number of workers that fit, each with one CPU and ``gpus`` GPUs.

        Raises:
            UserError: none.
        """
        workers = int(min(self.cpus, self.gpus / gpus) if gpus else self.cpus)
        if workers < 1:
            raise UserError(
                f"[executor] the Ray cluster has {self.cpus:g} CPUs and {self.gpus:g} GPUs, a worker needs 1 and "
                f"{gpus:g}: join a machine that has them, or set num_gpus"
            )
        return workers


def is_address(value: str) -> bool:
    """Return whether ``value`` is ``auto`` or ``host:port``."""
    return bool(_ADDRESS.fullmatch(value))


def connect(address: str) -> bool:
    """Join the cluster, unless this process has joined one.

    Args:
        address: ``host:port`` of its head, or ``auto`` for the one that this machine belongs to.

    Returns:
        Whether it was joined here, and is to be left by who asked.

    Raises:
        UserError: Ray is not installed; no cluster answers there.
    """
    if find_spec("ray") is None:
        raise UserError(f'[executor] kind = "ray" needs the package ray, which is not installed: {INSTALL}')
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"  # it reports to its makers otherwise
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")  # its future default; it warns otherwise
    ray: Any = import_module("ray")
    if ray.is_initialized():
        return False
    _probe(address)
    try:
        ray.init(address=address, log_to_driver=False, logging_level=logging.ERROR, configure_logging=False)
    except (RuntimeError, ValueError, OSError) as error:
        first = str(error).strip().split("\n")[0]
        raise UserError(f"[executor] no Ray cluster at {address!r} ({first}): {_remedy(address)}") from None
    return True


def leave() -> None:
    """Leave the cluster; it goes on without us."""
    ray: Any = import_module("ray")
    ray.shutdown()


def resources() -> ClusterResources:
    """Return the resources of the cluster that was joined."""
    ray: Any = import_module("ray")
    found = ray.cluster_resources()
    machines = sum(bool(node["Alive"]) for node in ray.nodes())
    return ClusterResources(machines, found.get("CPU", 0.0), found.get("GPU", 0.0))


def room(address: str, gpus: float) -> str:
    """Join the cluster for a moment and describe what it has and how many workers fit.

    Raises:
        UserError: Ray is not installed, no cluster answers, or it has no room for a worker.
    """
    joined = connect(address)
    try:
        found = resources()
    finally:
        if joined:
            leave()
    workers = found.room(gpus)
    has = ", ".join((counted(found.machines, "machine"), f"{found.cpus:g} CPUs", f"{found.gpus:g} GPUs"))
    return f"{has} at {address}: {counted(workers, 'worker')}"


def _probe(address: str) -> None:
    host, _, port = address.rpartition(":")
    if not host:
        return
    try:
        socket.create_connection((host.strip("[]"), int(port)), _PATIENCE).close()
    except (OSError, OverflowError) as error:
        raise UserError(
            f"[executor] no Ray cluster answers at {address} ({error}): {_remedy(address)}"
        ) from None


def _remedy(address: str) -> str:
    head = "ray start --head" if address == "auto" else f"ray start --address={address}"
    token = "" if os.environ.get("RAY_AUTH_TOKEN") else ", does it want its token (RAY_AUTH_TOKEN)"
    return f"is it up, has this machine joined it (`{head}`){token}? docs/scale.md says how"
