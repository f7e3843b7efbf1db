"""Which annotator labels the questions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from annotation.annotator import Annotator
from annotation.lexicon_annotator import LexiconAnnotator
from annotation.params import AnnotateParams
from schemas.dataset import DatasetParams

if TYPE_CHECKING:
    from annotation.llm.client import AnswerStore


def choose(params: AnnotateParams, store: AnswerStore) -> Annotator:
    """The annotator that the options select.

    Raises:
        UserError: an LLM is wanted, and no model is named or its key is missing.
    """
    if params.chosen() == "llm":
        from annotation.llm_annotator import LlmAnnotator  # openai takes half a second to import

        return LlmAnnotator(params.llm, store)
    return LexiconAnnotator()


def problems(params: AnnotateParams, dataset: DatasetParams) -> list[str]:  # noqa: ARG001 - the catalogue's form
    """What stands in the way of annotating, each with its remedy; empty when nothing does."""
    if params.chosen() != "llm" or (missing := params.llm.missing()) is None:
        return []
    return [f"annotate: {missing} ([annotate.llm]), or set annotator = 'lexicon'"]
