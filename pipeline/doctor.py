"""Checks of this machine and configuration: parts installed, reachable or missing; checks before a run."""

import os
import platform
import shutil
import sys
from collections.abc import Collection, Iterator
from ctypes.util import find_library
from dataclasses import dataclass
from enum import StrEnum
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path

from build_dataset.annotation.label_studio.server import EXTRA, START
from build_dataset.annotation.params import AnnotateParams, ReviewParams
from build_dataset.pipeline.catalogue import STAGES
from build_dataset.pipeline.config import ConfigBase
from build_dataset.pipeline.runtime import executor, ray_executor
from build_dataset.schemas.errors import UserError, bad_certificate, trusted_certificates

_PATIENCE = 2.0  # seconds for a server on the same machine to answer


class CheckState(StrEnum):
    """Outcome of a check."""

    OK = "ok"
    ABSENT = "absent"  # not installed or reachable, and not needed with this configuration
    WRONG = "wrong"  # missing or wrong, and needed


@dataclass(frozen=True)
class Check:
    """One line of the examination."""

    name: str
    state: CheckState
    detail: str
    remedy: str | None = None


def run_checks(config: ConfigBase | None) -> list[Check]:
    """All checks; those of the configuration only when there is one."""
    free = shutil.disk_usage(Path.cwd()).free / 2**30
    checks = [
        Check("python", CheckState.OK, f"{platform.python_version()} ({sys.executable})"),
        Check("machine", CheckState.OK, f"{executor.available_cores()} cores, {free:.0f} GB free here"),
    ]
    for name, use, remedy in _PACKAGES:
        try:
            checks.append(Check(name, CheckState.OK, f"{version(name)} · {use}"))
        except PackageNotFoundError:
            checks.append(Check(name, CheckState.ABSENT, f"not installed · {use}", remedy))
    # The OpenCV that PaddleOCR brings: its files replace those of the build without windows.
    module = find_spec("cv2")  # without importing it
    about = Path(module.origin).with_name("version.py") if module and module.origin else None
    if about and about.is_file() and "headless = True" not in about.read_text(encoding="utf-8"):
        problem = "the build with windows needs libGL.so.1: no OCR engine starts"
        cure = "pip install --force-reinstall --no-deps opencv-python-headless"
        fine = Check("opencv", CheckState.OK, "the build with windows, which PaddleOCR brings")
        # desktops have it, servers and containers seldom
        checks.append(fine if find_library("GL") else Check("opencv", CheckState.WRONG, problem, cure))
    checks.append(_label_studio(config))
    if shutil.which("nvidia-smi"):  # comes with the driver; importing torch takes seconds
        checks.append(Check("gpu", CheckState.OK, "an NVIDIA driver is installed"))
    else:
        why = "none found; only local models (evaluate) and PaddleOCR gain from one"
        checks.append(Check("gpu", CheckState.ABSENT, why))
    if config is None:
        hint = "`build-dataset init FOLDER` makes one"
        return [*checks, Check("dataset.toml", CheckState.ABSENT, "none in this folder", hint)]
    if (raw := config.dataset.raw).is_dir():
        checks.append(Check("raw folder", CheckState.OK, str(raw)))
    else:
        checks.append(Check("raw folder", CheckState.WRONG, f"no {raw}", "make it and put exam papers there"))
    checks += [_language_model(config.section(AnnotateParams)), *_cluster(config)]
    for stage in STAGES:
        problems = stage.problems(config.params(stage.name), config.dataset)
        checks += [Check(stage.name, CheckState.WRONG, each.removeprefix(f"{stage.name}: ")) for each in problems]
    return checks


_PACKAGES = (
    ("pymupdf", "reads PDFs", None),
    ("rapidocr", "embedded OCR models", "pip install rapidocr"),
    ("openvino", "makes OCR 3 times faster", "pip install openvino"),
    ("paddleocr", "PaddleOCR engine, if you prefer it", "pip install 'paddleocr>=3.7' (docs/ocr.md)"),
)


def _label_studio(config: ConfigBase | None) -> Check:
    import httpx

    params = config.section(ReviewParams) if config else ReviewParams()
    url, variable = params.url, params.api_key_env
    if find_spec("label_studio_sdk") is None:
        return Check("label studio", CheckState.ABSENT, "label-studio-sdk is not installed · for expert review", EXTRA)
    try:
        with trusted_certificates():
            release = httpx.get(f"{url}/api/version", timeout=_PATIENCE).json()["release"]
    except (httpx.HTTPError, ValueError, TypeError, KeyError, UserError) as error:
        silent = f"no answer at {url} · for expert review", f"`{START}` installs it and starts it on loopback"
        return _untrusted(error, url, Check("label studio", CheckState.ABSENT, *silent))
    if not os.environ.get(variable):  # its key is never sent from here
        state = f"{release} at {url}, but {variable} is not set"
        remedy = f"export {variable}=… (Account & Settings in Label Studio)"
        return Check("label studio", CheckState.ABSENT, state, remedy)
    return Check("label studio", CheckState.OK, f"{release} at {url}")


def _language_model(params: AnnotateParams) -> Check:
    """Check that a model for annotation is named and its server answers; its key is not sent."""
    if params.chosen() == "lexicon":
        remedy = "name one in [annotate.llm] model"
        return Check("language model", CheckState.ABSENT, "none named: the offline lexicon labels", remedy)
    import httpx

    what = f"{params.llm.model} at {params.llm.base_url}"
    try:
        with trusted_certificates():
            httpx.get(f"{params.llm.base_url}/models", timeout=_PATIENCE)  # any answer will do, 401 too
    except (httpx.HTTPError, UserError) as error:
        problem = f"{what} does not answer ({type(error).__name__})"
        return _untrusted(error, params.llm.base_url, Check("language model", CheckState.WRONG, problem, "is it up?"))
    return Check("language model", CheckState.OK, what)


def _untrusted(error: Exception, url: str, silent: Check) -> Check:
    """Return what is wrong with a server's certificate, or with those that are trusted; else that it is ``silent``."""
    problem = str(error) if isinstance(error, UserError) else bad_certificate(error, url)
    return Check(silent.name, CheckState.WRONG, problem) if problem else silent


def _cluster(config: ConfigBase) -> Iterator[Check]:
    """The Ray cluster, where one is asked for."""
    if config.executor.kind != "ray":  # nothing to join
        return
    try:
        yield Check("ray cluster", CheckState.OK, ray_executor.room(config.executor.address, config.executor.num_gpus))
    except UserError as error:
        yield Check("ray cluster", CheckState.WRONG, str(error).removeprefix("[executor] "))


_LEAST_DISK = 200 * 2**20  # bytes: the sample takes 20 MB, a thousand papers about 150 MB


def preflight(config: ConfigBase, due: Collection[str]) -> None:
    """Raise a ``UserError`` with a line for each thing that stands in the way of the stages that are ``due``."""
    stages = [stage for stage in STAGES if stage.name in due]  # stages that are done need no key
    build = config.dataset.build
    free = shutil.disk_usage(next(folder for folder in (build, *build.parents) if folder.exists())).free
    problems = []
    if stages and free < _LEAST_DISK:
        problems = [f"only {free // 2**20} MB free for {build}: make room or set dataset.build to another disk"]
    if any(stage.parallel for stage in stages):  # joining a cluster takes seconds
        problems += [f"[executor] {check.detail}" for check in _cluster(config) if check.state == "wrong"]
    for stage in stages:
        problems += stage.problems(config.params(stage.name), config.dataset)
    if problems:
        raise UserError("\n".join(problems))
