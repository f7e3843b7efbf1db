"""The choice of an OCR engine; ``pipeline.ocr.params`` lists them."""

from collections.abc import Callable
from contextlib import suppress
from functools import cache, cached_property
from importlib import import_module, metadata
from importlib.util import find_spec
from typing import Any

from build_dataset.pipeline.ocr.interfaces import EngineSetup, OcrEngine
from build_dataset.pipeline.ocr.params import ENGINES, EngineName, OcrParams
from build_dataset.schemas.dataset import DatasetParams
from build_dataset.schemas.errors import UserError
from build_dataset.schemas.params import Params


class ChosenEngine:
    """The engine that parameters choose, with its options; it is made in workers, by ``load``."""

    def __init__(self, params: OcrParams) -> None:
        self.params = params
        self.name = EngineName.RAPIDOCR if params.engine is EngineName.AUTO else params.engine
        self.options: Params = getattr(params, self.name.value)

    @property
    def module(self) -> str:
        """Name of the module with the class."""
        return f"{__name__}.{ENGINES[self.name].partition(':')[0]}"

    @cached_property
    def made_of(self) -> type[EngineSetup]:
        """The class of the engine."""
        found: type[EngineSetup] = getattr(import_module(self.module), ENGINES[self.name].partition(":")[2])
        return found

    def check(self) -> None:
        """Make sure that the engine can start, before any page is given to it."""
        packages = self.made_of.packages
        if packages and find_spec(packages[0]) is None:
            raise UserError(
                f"[ocr] engine = {self.name.value!r} needs the package {packages[0]}, which is not installed: "
                f"pip install {self.made_of.requirement}, or set engine = 'auto'"
            )
        self.made_of.check(self.options)

    @cached_property
    def version(self) -> str:
        """Versions of the engine, of what it runs on, and of models that do not ship inside it."""
        packages = []
        for name in self.made_of.packages:
            with suppress(metadata.PackageNotFoundError):
                packages.append(f"{name} {metadata.version(name)}")
        return ", ".join([*packages, *self.made_of.models(self.options)])

    @cached_property
    def semantic(self) -> dict[str, Any]:
        """The parameters that can change what is recognised."""
        shared = {name: getattr(self.params, name) for name in ("dpi", "clean_images", "max_pixels")}
        return {"engine": self.name.value, **shared, "options": self.options.semantic()}


def problems(params: OcrParams, dataset: DatasetParams) -> list[str]:  # noqa: ARG001 - the catalogue's form
    """Return what stands in the way of the chosen engines; empty when nothing does."""
    second = [params.model_copy(update={"engine": params.second})] if params.second else []
    found = []
    for one in [params, *second]:
        try:
            ChosenEngine(one).check()
        except UserError as error:
            found.append(str(error))
    return found


def load(params: OcrParams) -> OcrEngine:
    """Return the chosen engine, made once a process: loading its models takes seconds."""
    engine = ChosenEngine(params)
    return _made(engine.made_of, engine.options)


_made: Callable[..., OcrEngine] = cache(lambda made_of, options: made_of(options))
