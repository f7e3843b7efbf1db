"""Options of the evaluate stage."""

from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field

from build_dataset.annotation.llm.options import OPENAI_URL, LlmOptions
from build_dataset.schemas import identity, questions
from build_dataset.schemas.errors import UserError
from build_dataset.schemas.evaluation import Task
from build_dataset.schemas.params import Address, Params, Person, VariableName, non_semantic, option

_TASK = "What is asked: answer (choose options), explanation (write it), clinical (the cases of evaluate.cases)."
_PROMPT = (
    "Prompt template: a shipped one (answer_only, chain_of_thought; explanation; clinical) or the path of a .toml of "
    "your own. Not given: the task's first."
)
_REPEATS = "Ask everything so many times, for means and deviations at a temperature above 0."
_SHOTS = "Worked examples before the question, from the validation split of the same subcategory."

_FIRST_PROMPT = {Task.ANSWER: "answer_only", Task.EXPLANATION: "explanation", Task.CLINICAL: "clinical"}


class AskOptions(Params):
    """The task, the prompt and the number of times a model is asked."""

    task: Task = Field(Task.ANSWER, description=_TASK)
    prompt: str | None = Field(None, description=_PROMPT)
    shots: int = Field(0, ge=0, le=32, description=_SHOTS)
    repeats: int = Field(1, ge=1, le=100, description=_REPEATS)

    def template(self) -> str:
        """Name or path of the template."""
        return self.prompt or _FIRST_PROMPT[self.task]

    def manner(self) -> str:
        """Return the manner of asking for the names of runs; empty where it is the default."""
        prompt = "" if self.template() == _FIRST_PROMPT[Task.ANSWER] else f" {self.template()}"
        return f"{prompt}{f' {self.shots}-shot' if self.shots else ''}"


class ReadingModel(AskOptions):
    """A model that reads the question."""

    name: str | None = option(None, "Name in the results; KIND:MODEL and the prompt when not given.")


class OpenAiModel(LlmOptions, ReadingModel):
    """A model behind an OpenAI-compatible endpoint."""

    kind: Literal["openai"] = "openai"

    def run_name(self) -> str:
        """Return the name in results; it says the prompt and the shots where they are not the default."""
        return self.name or f"openai:{self.model}{self.manner()}"


class TransformersModel(ReadingModel):
    """A model on this machine's GPUs, or its CPU, by transformers; needs the extra ``local``."""

    kind: Literal["transformers"] = "transformers"
    model: str = Field(description="Folder of the model, or its name on a hub.")
    revision: str | None = option(None, "Revision on the hub.")
    adapter: str | None = option(None, "Folder of a peft adapter that goes over the model.")
    gguf_file: str | None = option(None, "Name of a GGUF file in that folder, to load in its place.")
    devices: list[str] = non_semantic(
        [], 'Devices to spread questions over, e.g. ["cuda:0", "cuda:1"]; every GPU, else the CPU, when empty.'
    )
    batch_tokens: int = non_semantic(16384, "Padded tokens in a batch, those to be written included.", ge=1)
    chat: Literal["auto", "plain"] = option("auto", "auto: the model's template, if any; plain: turns as bare text.")
    answer_by: Literal["text", "likelihood"] = option(
        "text", "likelihood: the likeliest letter in a forward pass, for questions with one answer."
    )
    dtype: Literal["auto", "bfloat16", "float16", "float32"] = option("auto", "auto: bfloat16 on GPU, float32 on CPU.")
    max_tokens: int = option(512, "Most new tokens of an answer (CMB: 512).", ge=1)
    temperature: float = option(0.0, "0 is greedy.", ge=0, le=2)
    top_p: float = option(1.0, "Nucleus of sampling at a temperature above 0.", gt=0, le=1)
    seed: int = option(20230605, "Of sampling; each prompt and repetition has its own, made from it.", ge=0, lt=2**32)

    def run_name(self) -> str:
        """Return the name in results."""
        return self.name or self.called(self.manner())

    def called(self, manner: str = "") -> str:
        """Return the model's name with its adapter, a manner of asking, and what the answer is chosen by."""
        likelihood = " by likelihood" if self.answer_by == "likelihood" else ""
        adapter = f"+{Path(self.adapter).name}" if self.adapter else ""
        return f"{Path(self.model).name}{adapter}{manner}{likelihood}"


class Baseline(AskOptions):
    """A model that reads no question and only chooses."""

    task: Literal[Task.ANSWER] = Field(Task.ANSWER, description=_TASK)
    name: str = Field(description="Name in the results.")

    def run_name(self) -> str:
        """Return the name in results."""
        return self.name


class RandomModel(Baseline):
    """Guesses: the score that knowing nothing gives."""

    kind: Literal["random"] = "random"
    name: str = option("random", "Name in the results.")


class MajorityModel(Baseline):
    """Always the most frequent answer of the training split's questions of the same type and size."""

    kind: Literal["majority"] = "majority"
    name: str = option("majority", "Name in the results.")


ModelOptions = Annotated[OpenAiModel | TransformersModel | RandomModel | MajorityModel, Field(discriminator="kind")]
"""The tables of ``[[evaluate.models]]``; ``kind`` selects the backend (``backends.BACKENDS``)."""


class JudgeOptions(LlmOptions):
    """A model that scores free text: ``[evaluate.judge]``."""

    max_tokens: int = option(256, "Most tokens of a verdict.", ge=1)


class ScoreParams(Params):
    """The ``[score]`` section: how outputs of others are read by `score`."""

    strict: bool = option(False, "Count only explicit and concluded readings as answers.")
    end_tokens: list[str] = option([], "End marks of a model that are not of the shape <…>, e.g. [EOA].")
    answer_marks: list[str] = option([], "Words that announce an answer in these outputs, e.g. Réponse.")

    def plain(self, text: str) -> str:
        """Return an output with the named marks in the form that every reader knows."""
        for token in self.end_tokens:
            text = text.replace(token, "\n")
        for mark in self.answer_marks:
            text = text.replace(mark, "答案")
        return text


class ScoringOptions(Params):
    """Options of scoring by experts in Label Studio: ``[evaluate.scoring]``."""

    sample: int = non_semantic(320, "Answers of each run that are sent to experts, drawn by lot.", ge=1)
    overlap: int = non_semantic(3, "Experts who score each answer (CMB: three).", ge=1, le=20)
    experts: list[Person] = option([], "E-mails of the experts whose scores count; everyone's when empty.")


class EvaluateParams(AskOptions):
    """The ``[evaluate]`` section of ``dataset.toml``."""

    split: questions.Split = option("test", "The split to ask.")
    limit: int | None = option(None, "Ask only so many questions, spread over the split.", ge=1)
    models: list[ModelOptions] = option(
        [RandomModel(), MajorityModel()],
        "[[evaluate.models]] tables: kind openai (any endpoint like it), transformers, random, majority.",
    )
    model: str | None = option(None, "One more model to ask, by its name at base_url.")
    base_url: Address = option(OPENAI_URL, "Address of that model's API, up to and with /v1.")
    api_key_env: VariableName = non_semantic("OPENAI_API_KEY", "Environment variable with the key of that API.")
    max_tokens: int = option(1024, "Most tokens of an answer of that model.", ge=1)
    judge: JudgeOptions | None = option(None, "[evaluate.judge]: model that scores explanations and clinical answers.")
    scoring: ScoringOptions = option(ScoringOptions(), "[evaluate.scoring]: answers scored by experts in Label Studio.")
    cases: Path | None = option(None, "Clinical cases in the format of CMB-Clin-qa.json, for the task clinical.")

    def all_models(self) -> list[ModelOptions]:
        """The configured models, and the one that the command line names."""
        models = [*self.models]
        if self.model:
            # A key is demanded where a variable is named, so it is passed on only when the user named one.
            fields = {"model", "base_url", "max_tokens", *AskOptions.model_fields}
            fields |= {"api_key_env"} & self.model_fields_set
            models.append(OpenAiModel.model_validate(self.model_dump(include=fields)))
        names = [model.run_name() for model in models]
        if twice := sorted({name for name in names if names.count(name) > 1}):
            raise UserError(f"[[evaluate.models]]: two models are called {twice[0]!r}: give one of them another name")
        return models

    def ignores(self) -> frozenset[str]:
        """Experts' scores change nothing where no model writes free text."""
        chosen = all(model.task is Task.ANSWER for model in self.models) and self.task is Task.ANSWER
        return frozenset({"reviews/answer_scores"}) if chosen else frozenset()

    def semantic(self) -> dict[str, Any]:
        """See ``Params.semantic``; files of the user's own count by what they say, not by their paths alone."""
        named = {self.prompt, *(model.prompt for model in self.models), self.cases}
        paths = sorted(str(name) for name in named if name and Path(name).is_file())
        return super().semantic() | {"own_files": {path: identity.sha256(Path(path).read_bytes()) for path in paths}}
