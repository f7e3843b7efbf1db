"""Options of the parse stage."""

from collections.abc import Sequence

from pydantic import Field

from build_dataset.annotation.llm.messages import ChatRequest
from build_dataset.annotation.llm.options import LlmOptions
from build_dataset.schemas.dataset import SourceParams
from build_dataset.schemas.params import Params, option


class PointParams(LlmOptions):
    """A model that points at lines where gates failed; off while no model is named."""

    max_tokens: int = option(4096, "Most tokens of an answer: ranges of lines.", ge=1)
    lines: int = option(80, "Most lines that are shown at once.", ge=10, le=500)

    def estimate(self, requests: Sequence[ChatRequest]) -> str:
        """Return what asking takes, in one line; a Chinese character is about a token, a line's ranges are 8."""
        shown = [str(request.messages[-1]["content"]) for request in requests]
        tokens_in = sum(map(len, shown)) + 200 * len(shown)
        tokens_out = sum(8 * (text.count("\n") + 1) for text in shown)
        return self.told(f"{len(shown):,} requests", tokens_in, tokens_out)


class ParseParams(Params):
    """The ``[parse]`` section of ``dataset.toml``."""

    sources: dict[str, SourceParams] = option({}, "What [sources] says of tabular files; write it there")
    llm: PointParams = Field(
        default_factory=PointParams,
        description="A model that says which lines are stem, options, answer and explanation where gates failed.",
    )
