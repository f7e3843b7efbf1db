"""``dataset.toml``: one file configures a dataset. Unknown keys are errors that name the nearest key."""

import os
import re
import tomllib
from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Literal, TypeVar

from pydantic import BaseModel, Field, ValidationError, create_model
from pydantic.fields import FieldInfo

from build_dataset.pipeline.catalogue import STAGES
from build_dataset.pipeline.evaluate.params import ScoreParams
from build_dataset.schemas import data, questions, release, taxonomy
from build_dataset.schemas.dataset import DatasetParams, SourceParams
from build_dataset.schemas.errors import UserError
from build_dataset.schemas.params import Params, non_semantic

FILE_NAME = "dataset.toml"
Section = TypeVar("Section", bound=Params)
_VARIABLE = "BUILD_DATASET_"  # BUILD_DATASET_OCR__ENGINE=paddleocr
"""Beginning of the names of environment variables that override a key; two underscores stand for a dot."""
_WHOLE = {"model_type", "model_attributes_type", "dict_type", "list_type", "value_error", "too_short"}
"""Types of problems whose message must not, or need not, quote the value: those of whole sections."""
_RESERVED = {
    *release.ReleaseRow.model_fields,
    *questions.Question.model_fields,
    *("overall", "length", "label_status", "split", "flags", "note"),
}
"""Reserved names: columns, slices and fields of the experts' screen."""
_FULL_WIDTH = re.compile("[“”‘’＂＝]")  # signs of a Chinese keyboard, which TOML does not take: title = “期末”
_REMOVED: dict[str, str] = data.shipped_toml("build_dataset.schemas", "removed.toml")
"""Removed keys, and what takes their place."""
_MAY_HOLD_SECRETS = re.compile("key|token|secret|password|url")  # keys whose value no message repeats


class ExecutorParams(Params):
    """The ``[executor]`` section: where parallel work runs."""

    kind: Literal["local", "ray"] = non_semantic("local", "local: this machine; ray: a Ray cluster (docs/scale.md)")
    workers: int | None = non_semantic(
        None, "Number of processes; one a core (with num_gpus: one a GPU's share) when absent", ge=1, le=4096
    )
    address: str = non_semantic(
        "auto",
        "Of the Ray cluster: host:port, as `ray start` prints it, or auto for this machine's own",
        pattern=r"^(?:auto|\[?[\w.:-]+\]?:\d{1,5})$",
    )
    num_gpus: float = non_semantic(0.0, "GPUs that each Ray worker holds; 0.25: four share one", ge=0, le=16)


class ConfigBase(BaseModel):
    """The whole of ``dataset.toml``; sections of stages are added from the catalogue."""

    model_config = {"extra": "forbid", "frozen": True}

    dataset: DatasetParams
    executor: ExecutorParams = ExecutorParams()
    sources: dict[str, SourceParams] = {}
    score: ScoreParams = ScoreParams()

    def params(self, stage: str) -> Params:
        """The section of a stage."""
        section: Params = getattr(self, stage)
        return section

    def section(self, kind: type[Section]) -> Section:
        """The section of a stage by its class."""
        return next(value for _, value in self if isinstance(value, kind))


_sections: dict[str, Any] = {row.name: (row.params, Field(default_factory=row.params)) for row in STAGES}
Config: type[ConfigBase] = create_model("Config", __base__=ConfigBase, **_sections)


def load(path: Path, overrides: dict[str, Any] | None = None) -> ConfigBase:
    """Read a configuration, whose label set is the one in use from then on; relative paths are relative to the file.

    ``overrides`` by dotted key (``{"ocr.engine": "paddleocr"}``) win over the environment
    (``BUILD_DATASET_OCR__ENGINE=paddleocr``), which wins over the file. A ``UserError`` tells all problems at once.
    """
    content = _read(path, f"no {path}: run `build-dataset init FOLDER` to make one, or name it with --config")
    origins: dict[str, str] = {}
    given = (("command line", key, value) for key, value in (overrides or {}).items())
    for origin, key, value in (*_from_environment(), *given):
        *sections, last = key.split(".")
        place = content
        for depth, name in enumerate(sections, 1):
            if name not in place:  # --set makes sections that the file lacks
                origins[".".join(sections[:depth])] = origin
            place = place.setdefault(name, {})
            if not isinstance(place, dict):
                raise UserError(f"{key}: {name} is not a section")
        place[last] = value  # the environment first: the command line wins
        origins[key] = origin
    home = path.resolve().parent
    dataset = content.get("dataset")
    labels = dataset.get("labels") if isinstance(dataset, dict) else None  # what is no path is told later
    own = read_label_set(_path(Path(labels), home, "dataset.labels")) if isinstance(labels, str) else None
    taxonomy.use_label_set(own)  # params below name its dimensions
    try:
        config = Config.model_validate(content)
    except ValidationError as error:
        raise UserError("\n".join(_problems(error, Config, path.name, origins))) from None
    settled = {name: _at_home(section, home, name) for name, section in config if isinstance(section, Params)}
    named = tuple(sorted({name for source in config.sources.values() for name in source.headers()}))
    joins = tuple(sorted((name, source.join_images) for name, source in config.sources.items() if source.join_images))
    columns_and_joins = {"columns": named, "joins": joins}  # tuples: engines are kept by them
    settled["ocr"] = settled["ocr"].model_copy(update=columns_and_joins)
    settled["parse"] = settled["parse"].model_copy(update={"sources": config.sources})
    config = config.model_copy(update=settled)
    # ``build`` is written anew and safe to delete, so papers and releases must not lie in it. The folder of papers may
    # hold the other two (``raw = "."``): they are left out when it is read.
    for outer, inner in (("build", "raw"), ("build", "releases"), ("releases", "build"), ("releases", "raw")):
        above, below = getattr(config.dataset, outer), getattr(config.dataset, inner)
        if below.resolve().is_relative_to(above.resolve()):  # links are followed: build -> papers
            raise UserError(
                f"{path.name}: dataset.{inner} ({below}) lies in dataset.{outer} ({above}): give it a folder of its own"
            )
    return config


def read_label_set(path: Path) -> taxonomy.LabelSet:
    """Return the label set that a file describes (docs/labels.md); a ``UserError`` tells all its problems at once."""
    try:
        labels = taxonomy.LabelSet.model_validate(_read(path, f"no file {path}: correct dataset.labels"))
    except ValidationError as error:
        raise UserError("\n".join(_problems(error, taxonomy.LabelSet, str(path), {}))) from None
    columns = [column for name in labels.by_name for column in release.label_columns(name)]
    if taken := [column for column in columns if column in _RESERVED or columns.count(column) > 1]:
        raise UserError(f"{path}: two columns would be called {taken[0]}: choose another name for the dimension")
    return labels


def _where(problem: Any) -> str:
    return ".".join(map(str, problem["loc"]))


def _at_home(section: Params, home: Path, where: str) -> Params:
    """The section with its relative paths, also of sections within it, taken from the configuration's folder."""
    changed: dict[str, Any] = {}
    for name, value in section:
        if isinstance(value, Path):
            changed[name] = _path(value, home, f"{where}.{name}")
        elif isinstance(value, Params):
            changed[name] = _at_home(value, home, f"{where}.{name}")
    return section.model_copy(update=changed)


def _path(value: Path, home: Path, key: str) -> Path:
    try:
        place = home / value.expanduser()
        place.resolve()
    except (RuntimeError, ValueError, OSError) as error:  # ~nosuchuser/x, a NUL byte, links in a circle
        raise UserError(f"{key} = {str(value)!r} is not a path: {error}") from None
    return place


def _read(path: Path, absent: str) -> dict[str, Any]:
    """Return the content of a TOML file; ``absent`` is the error when there is none."""
    text = ""
    try:
        text = path.read_text(encoding="utf-8-sig")  # editors on Windows write a byte-order mark
        return tomllib.loads(text)
    except FileNotFoundError:
        raise UserError(absent) from None
    except (ValueError, RecursionError) as error:  # also numbers of 5,000 digits, brackets in brackets
        at = re.search(r"at line (\d+)", str(error))  # "Invalid value (at line 3, column 9)"
        hint = "; paths with backslashes stand in 'single quotes'" if "\\" in text else ""
        if _FULL_WIDTH.search(text.splitlines()[int(at[1]) - 1] if at else ""):
            hint = "; write straight quotes and a plain = there"
        elif str(error).startswith("Cannot declare"):  # "Cannot declare ('dataset',) twice"
            hint = "; a section stands once: put its keys together"
        raise UserError(f"{path} is not TOML in UTF-8: {error}{hint}") from None
    except OSError as error:
        raise UserError(f"{path} cannot be read: {error.strerror}") from None


def _from_environment() -> Iterator[tuple[str, str, Any]]:
    """Yield variables as ``BUILD_DATASET_OCR__ENGINE``, keys, values; one with one underscore is a ``UserError``."""
    for name, value in sorted(os.environ.items()):
        words = name.removeprefix(_VARIABLE).lower()
        section, _, key = words.partition("_")
        if not name.startswith(_VARIABLE):
            continue
        if "__" in words:  # annotate__llm__model
            yield name, words.replace("__", "."), toml_value(value)
        elif key and section in Config.model_fields:  # ocr_engine: a section, one underscore
            meant = f"{_VARIABLE}{section}__{key}".upper()
            raise UserError(f"{name}: two underscores follow the section: {meant}")


def toml_value(text: str) -> Any:
    """Return a value given as text: TOML where it is TOML (7, true, [8, 1, 1]), otherwise a string."""
    try:
        return tomllib.loads(f"value = {text}")["value"]  # 7, true, [8, 1, 1], "quoted"
    except (ValueError, RecursionError):
        return text


def _problems(error: ValidationError, model: Any, file: str, origins: Mapping[str, str]) -> list[str]:
    """Return a line for each problem; a list that is short because of wrong items is not told beside them."""
    found = error.errors()
    inner = {each["loc"][:end] for each in found for end in range(len(each["loc"]))}
    return [_explain(origins.get(_where(each), file), model, each) for each in found if each["loc"] not in inner]


def _explain(file: str, model: Any, problem: Any) -> str:
    where, wrong = _where(problem), str(problem["msg"]).removeprefix("Value error, ")
    if problem["type"] == "extra_forbidden":
        if where in _REMOVED:
            return f"{file}: {where} is gone: {_REMOVED[where]}"
        return f"{file}: unknown key {where}{_suggestion(problem['loc'], model)}"
    if problem["type"] == "missing":
        return f"{file}: {where} is missing: add it"
    last = str(problem["loc"][-1]) if problem["loc"] else ""
    if problem["type"] in _WHOLE or _MAY_HOLD_SECRETS.search(last):  # the value may be a whole section
        return f"{file}: {where}: {wrong}"
    field = _fields(problem["loc"], model).get(last)
    if problem["type"] == "string_pattern_mismatch" and field and isinstance(field.default, str):
        wrong = f"not of the form that it takes: {field.description}; e.g. {field.default!r}"
    hint = "; quote it: '\"…\"'" if problem["type"] == "string_type" else ""  # version = 1.0 is a number
    return f"{file}: {where} = {problem['input']!r}: {wrong}{hint}"


def _fields(location: tuple[int | str, ...], model: Any) -> Mapping[str, FieldInfo]:
    """The fields of the innermost section that a key's location names."""
    for part in location[:-1]:  # walks down: annotate, llm, model
        field = getattr(model, "model_fields", {}).get(part)
        model = field.annotation if field else None
    fields: Mapping[str, FieldInfo] = getattr(model, "model_fields", {})
    return fields


def _suggestion(location: tuple[int | str, ...], model: Any) -> str:
    """The key that was probably meant, among those of the innermost section that the location names."""
    known, wanted = _fields(location, model), str(location[-1])
    if near := get_close_matches(wanted, known, n=1, cutoff=0.5):  # ratio: ratios; sede: seed
        return f"; did you mean {near[0]}?"
    for name, field in known.items():
        if wanted in getattr(field.annotation, "model_fields", ()):  # in a section of it
            return f"; did you mean [{'.'.join(map(str, (*location[:-1], name)))}] {wanted}?"
    return f"; known here: {', '.join(known)}" if known else ""
