"""Options of the evaluate stage."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field

from annotation.llm.options import OPENAI_URL, LlmOptions
from schemas.errors import UserError
from schemas.identity import sha256
from schemas.params import Address, Params, VariableName, knob

_PROMPT = "Prompt template: a shipped one (answer_only, chain_of_thought) or the path of a .toml of your own."
_SHOTS = "Worked examples before the question, from the validation split of the same subcategory."


class OpenAiModel(LlmOptions):
    """A model behind an OpenAI-compatible endpoint."""

    kind: Literal["openai"] = "openai"
    name: str | None = Field(None, description="Name in the results; openai:MODEL when not given.")
    prompt: str = Field("answer_only", description=_PROMPT)
    shots: int = Field(0, ge=0, le=32, description=_SHOTS)

    def run_name(self) -> str:
        """What the results call this model: also says the prompt and the shots where they are not the default."""
        if self.name:
            return self.name
        prompt = "" if self.prompt == "answer_only" else f" {self.prompt}"
        return f"openai:{self.model}{prompt}{f' {self.shots}-shot' if self.shots else ''}"


class RandomModel(Params):
    """Guesses: the score that knowing nothing gives."""

    kind: Literal["random"] = "random"
    name: str = Field("random", description="Name in the results.")
    seed: int | None = Field(
        None, description="Seed of the guesses; the dataset's when not given.", ge=0, lt=2**32
    )

    def run_name(self) -> str:
        """What the results call this model."""
        return self.name


class MajorityModel(Params):
    """Always the most frequent answer of the training split's questions of the same type and size."""

    kind: Literal["majority"] = "majority"
    name: str = Field("majority", description="Name in the results.")

    def run_name(self) -> str:
        """What the results call this model."""
        return self.name


ModelOptions = Annotated[OpenAiModel | RandomModel | MajorityModel, Field(discriminator="kind")]
"""What ``[[evaluate.models]]`` may hold; ``kind`` selects the backend (``backends.BACKENDS``)."""


def _baselines() -> list[ModelOptions]:
    return [RandomModel(), MajorityModel()]


class EvaluateParams(Params):
    """The ``[evaluate]`` section of ``dataset.toml``."""

    split: Literal["test", "validation", "train"] = Field("test", description="The split to ask.")
    limit: int | None = Field(None, ge=1, description="Ask only so many questions, spread over the split.")
    models: list[ModelOptions] = Field(
        default_factory=_baselines,
        description="[[evaluate.models]] tables: kind openai (any compatible endpoint), random or majority.",
    )
    model: str | None = Field(None, description="One more model to ask, by its name at base_url.")
    base_url: Address = Field(OPENAI_URL, description="Address of that model's API, up to and with /v1.")
    api_key_env: VariableName = knob("OPENAI_API_KEY", "Environment variable with the key of that API.")
    prompt: str = Field("answer_only", description=_PROMPT)
    shots: int = Field(0, ge=0, le=32, description=_SHOTS)
    max_tokens: int = Field(1024, ge=1, description="Most tokens of an answer of that model.")

    def all_models(self) -> list[OpenAiModel | RandomModel | MajorityModel]:
        """The configured models, and the one that the command line names.

        Raises:
            UserError: two of them have the same name, or an openai model has none.
        """
        models = [*self.models, *([self._named()] if self.model else [])]
        names = [model.run_name() for model in models]
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise UserError(
                f"[[evaluate.models]]: two models are called {twice[0]!r}: give one of them another name"
            )
        return models

    def semantic(self) -> dict[str, Any]:
        """See ``Params.semantic``; a template of the user's own counts by what it says, not by its path alone."""
        prompts = {self.prompt, *(model.prompt for model in self.models if isinstance(model, OpenAiModel))}
        own = {name: sha256(Path(name).read_bytes()) for name in sorted(prompts) if Path(name).is_file()}
        return super().semantic() | {"own_templates": own}

    def _named(self) -> OpenAiModel:
        # A key is demanded where a variable is named, so it is passed on only when the user named one.
        key = {"api_key_env": self.api_key_env} if "api_key_env" in self.model_fields_set else {}
        return OpenAiModel(
            model=self.model,
            base_url=self.base_url,
            prompt=self.prompt,
            shots=self.shots,
            max_tokens=self.max_tokens,
            **key,
        )
