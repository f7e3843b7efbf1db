"""Models behind OpenAI-compatible endpoints, through the client that annotation uses."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from annotation.llm.client import LlmClient
from annotation.llm.messages import Answer, ChatRequest, Failed
from pipeline.evaluate.backends import Backend, Generation, Setting
from pipeline.evaluate.params import OpenAiModel
from pipeline.evaluate.prompting import Prompt
from pipeline.stage import Failure


class OpenAiBackend(Backend):
    """Asks one model at one endpoint; every output is stored as it arrives, so that scoring asks nothing."""

    def __init__(self, options: OpenAiModel, setting: Setting) -> None:
        self._client = LlmClient(options)
        self._options = options
        self.identity = {"base_url": options.base_url, "model": options.model}
        self._store = setting.context.store

    def generate(self, prompts: Sequence[Prompt], advance: Callable[[int], None]) -> Iterator[Generation]:
        """See ``Backend``."""
        requests = [
            ChatRequest(prompt.id, prompt.messages, keep_unfinished=True, sample=prompt.repeat)
            for prompt in prompts
        ]
        for outcome in self._client.complete_many(requests, self._store, advance):
            yield _generation(outcome, self._options)


def _whole(text: str) -> str:
    """The text with a lone half of a surrogate pair replaced: a reply cut inside an emoji is no valid UTF-8."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _generation(outcome: Answer | Failed, options: OpenAiModel) -> Generation:
    if isinstance(outcome, Failed):
        return Generation(outcome.request.id, None, failure=Failure(outcome.reason, outcome.detail))
    return Generation(
        outcome.request.id,
        _whole(outcome.text),
        outcome.finish_reason,
        prompt_tokens=outcome.usage.prompt_tokens,
        completion_tokens=outcome.usage.completion_tokens,
        cost=outcome.cost,
        seed=None if options.seed is None else options.seed + outcome.request.sample,
        model=outcome.model,
    )
