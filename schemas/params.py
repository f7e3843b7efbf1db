"""Parameters of stages: what a section of ``dataset.toml`` may say."""

import re
from collections.abc import Mapping
from enum import Enum
from pathlib import Path
from typing import Annotated, Any, ClassVar
from urllib.parse import urlsplit

from pydantic import AfterValidator, BaseModel, Field, StringConstraints, model_validator
from pydantic.fields import FieldInfo


def _address(value: str) -> str:
    parts = urlsplit(value)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.port == 0:
        raise ValueError("must be an address like https://api.openai.com/v1")
    if parts.username or parts.password or parts.query:
        raise ValueError("must hold no user, password or query; keys come from the environment")
    return value.rstrip("/")


def _variable(value: str) -> str:
    if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", value):
        raise ValueError("must be the name of an environment variable that holds the key, never the key itself")
    return value


Address = Annotated[str, AfterValidator(_address)]
"""Address of a server, free of secrets, as it appears in manifests and messages."""
VariableName = Annotated[str, AfterValidator(_variable)]
"""The environment variable that holds a key; the name stands in messages."""

Share = Annotated[float, Field(ge=0, le=1)]  # of questions, labels
Person = Annotated[str, StringConstraints(strip_whitespace=True, to_lower=True)]
"""An expert's e-mail address or name: ``Zhang@example.org`` is ``zhang@example.org``, or one would be two."""


class Params(BaseModel, extra="forbid", frozen=True, defer_build=True):
    """Parameters of a stage. Unknown keys are errors."""

    GONE: ClassVar[Mapping[str, str]] = {}
    """Settings of the version before that are refused, each with what takes its place."""

    @model_validator(mode="before")
    @classmethod
    def _refuse_gone(cls, values: Any) -> Any:
        for name, told in cls.GONE.items():
            if isinstance(values, dict) and name in values:
                raise ValueError(f"{name} {told}")
        return values

    def semantic(self) -> dict[str, Any]:
        """The parameters that can change a result, for fingerprints and cache keys."""
        fields = type(self).model_fields
        return {name: _semantic(value) for name, value in self if not is_non_semantic(fields[name])}

    def off(self) -> str | None:
        """Return what to set for the stage to run; None where it runs. A stage that is off leaves no result."""
        return None

    def ignores(self) -> frozenset[str]:
        """Inputs of the stage, as ``maker/table``, that cannot change its result with these parameters."""
        return frozenset()


def option(default: Any, description: str, **constraints: Any) -> Any:
    """A parameter that can change a result."""
    return Field(default, description=description, **constraints)


def non_semantic(default: Any, description: str, **constraints: Any) -> Any:
    """A parameter that changes how fast or where, never what: workers, timeouts, addresses of keys."""
    return option(default, description, json_schema_extra={"non_semantic": True}, **constraints)


def is_non_semantic(field: FieldInfo) -> bool:
    """Return whether a field was declared with ``non_semantic``."""
    return isinstance(field.json_schema_extra, dict) and bool(field.json_schema_extra.get("non_semantic"))


def _semantic(value: Any) -> Any:
    if isinstance(value, Params):
        return value.semantic()
    if isinstance(value, list | tuple):
        return [_semantic(item) for item in value]
    if isinstance(value, dict):
        return {key: _semantic(item) for key, item in value.items()}
    return str(value) if isinstance(value, Path | Enum) else value
