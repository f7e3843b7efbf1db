"""What the ways of asking a model have in common: what is stored already is not asked, and nothing is asked twice."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from typing import Any

from annotation.llm.budget import Bills
from annotation.llm.messages import AnswerStore, ChatRequest, Outcome
from annotation.llm.options import LlmOptions
from annotation.llm.replies import answer_of, spread
from schemas.errors import UserError

Groups = Mapping[str, Sequence[ChatRequest]]
"""Requests by key: those of a group are the same to the letter."""


class Client(ABC):
    """A client of one model at one endpoint.

    Args:
        options: endpoint, model, prices, limits.

    Raises:
        UserError: no model is named, or its key is missing.
    """

    def __init__(self, options: LlmOptions) -> None:
        if (missing := options.missing()) is not None:
            raise UserError(missing)
        self._options = options

    def complete_many(
        self,
        requests: Sequence[ChatRequest],
        store: AnswerStore,
        progress: Callable[[int], None] | None = None,
    ) -> Iterator[Outcome]:
        """Answer every request, from the store where it is there and from the endpoint where not.

        Args:
            requests: any number; those that are the same to the letter are asked once.
            store: gets every good answer before it is yielded; failures are never stored as answers.
            progress: called with the number of requests that have just ended.

        Yields:
            One outcome a request: stored answers first, then the others as they arrive.

        Raises:
            UserError: the endpoint refuses the key, the model or the form of all requests. What was answered
                before is in the store.
        """
        with closing(self._outcomes(requests, store)) as ended:
            for outcomes in ended:
                if progress is not None:
                    progress(len(outcomes))
                yield from outcomes

    def _outcomes(
        self, requests: Sequence[ChatRequest], store: AnswerStore
    ) -> Generator[list[Outcome], None, None]:
        groups: dict[str, list[ChatRequest]] = {}
        for request in requests:
            groups.setdefault(request.key(self._options), []).append(request)
        stored = store.get_many(groups)
        if stored:
            bills = Bills({key: groups[key] for key in stored}, store, self._options)
            answers = (
                (
                    replace(
                        answer_of(groups[key][0], value, self._options, stored=True), waste=bills.waste(key)
                    ),
                    groups[key],
                )
                for key, value in stored.items()
            )
            yield [outcome for answer, group in answers for outcome in spread(answer, group)]
        if missing := [key for key in groups if key not in stored]:
            yield from self._ask(missing, groups, store)

    @abstractmethod
    def _ask(
        self, missing: Sequence[str], groups: Groups, store: AnswerStore
    ) -> Generator[list[Outcome], None, None]:
        """Ask for what is missing; yields what has just ended, for every request of a group."""


def connected(options: LlmOptions, kind: str, http_client: Any) -> Any:
    """A client of the openai SDK that sends nothing twice by itself: what is sent twice is paid twice.

    Args:
        options: of the endpoint; Azure's classic API has clients of its own, with the key in another header.
        kind: ``""`` or ``"Async"``, as the SDK's names begin.
        http_client: to send with.
    """
    import openai

    azure = options.api_version is not None
    more = {"api_version": options.api_version} if azure else {}
    return getattr(openai, f"{kind}{'Azure' * azure}OpenAI")(
        api_key=options.api_key() or "none",
        base_url=options.base_url,
        timeout=options.timeout,
        max_retries=0,
        http_client=http_client,
        **more,
    )
