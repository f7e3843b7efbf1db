"""How a model is tuned: the settings of a paper as a file."""

from __future__ import annotations

import tomllib
from importlib.resources import files
from pathlib import Path
from typing import Literal

from pydantic import Field, ValidationError

from schemas.errors import UserError
from schemas.params import Params

RECORD = "training.json"
"""What a folder of tuned weights says of itself; it is there only when training has ended."""


class Lora(Params):
    """Low-rank adapters (Hu et al. 2021)."""

    rank: int = Field(8, ge=1)
    alpha: int = Field(16, ge=1)
    dropout: float = Field(0.05, ge=0, lt=1)


class Prefix(Params):
    """Trained keys and values before every layer (Liu et al. 2021)."""

    tokens: int = Field(128, ge=1)


class Encoder(Params):
    """A multiple-choice head over an encoder (Devlin et al. 2019)."""

    hidden_dropout: float = Field(0.4, ge=0, lt=1)


class Recipe(Params):
    """Settings of one way to tune."""

    method: Literal["lora", "prefix", "multiple_choice"]
    learning_rate: float = Field(gt=0)
    batch_size: int = Field(ge=1)
    epochs: float = Field(gt=0)
    max_input: int = Field(ge=8)
    max_target: int = Field(256, ge=1)
    prompt: str = "answer_only"
    """Prompt template of causal models; its ``answer`` is what they learn to write."""
    seed: int = Field(20230605, ge=0, lt=2**32)
    lora: Lora = Lora()
    prefix: Prefix = Prefix()
    encoder: Encoder = Encoder()


def load_recipe(name: str) -> Recipe:
    """A shipped recipe by name, or one of the user's own by path.

    Raises:
        UserError: there is no such recipe, or a key is unknown or wrong.
    """
    shipped = files("pipeline.finetune") / "recipes"
    known = sorted(
        entry.name.removesuffix(".toml") for entry in shipped.iterdir() if entry.name.endswith(".toml")
    )
    source = shipped / f"{name}.toml" if name in known else Path(name)
    try:
        return Recipe.model_validate(tomllib.loads(source.read_text(encoding="utf-8")))
    except FileNotFoundError:
        raise UserError(
            f"recipe {name!r}: no such recipe; there are {', '.join(known)}, or give a path"
        ) from None
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise UserError(f"recipe {name!r}: cannot be read: {error}") from None
    except ValidationError as error:
        first = error.errors()[0]
        raise UserError(f"recipe {name!r}, {'.'.join(map(str, first['loc']))}: {first['msg']}") from None
