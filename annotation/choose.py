"""Choice of the annotator that labels the questions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from annotation.annotator import Annotator
from annotation.learned import LEAST
from annotation.lexicon_annotator import LexiconAnnotator
from annotation.params import AnnotateParams
from annotation.reviewed import Reviewed
from schemas.dataset import DatasetParams
from schemas.errors import UserError

if TYPE_CHECKING:
    from annotation.llm.messages import AnswerStore


def choose(params: AnnotateParams, store: AnswerStore, reviewed: Sequence[Reviewed] = ()) -> Annotator:
    """The annotator that the options and the reviewed questions select.

    Raises:
        UserError: an LLM is wanted, and no model is named or its key is missing; or learning is, and too few
            questions are reviewed.
    """
    chosen = params.chosen(len(reviewed))
    if chosen == "llm":
        from annotation.llm_annotator import LlmAnnotator  # openai takes half a second to import
        from annotation.prompt import choose_shots

        return LlmAnnotator(params.llm, store, choose_shots(reviewed, params.llm.shots), batch=params.batch)
    if chosen == "learned":
        if len(reviewed) < LEAST:
            raise UserError(
                f"{len(reviewed)} questions are reviewed, learned needs {LEAST}: run `build-dataset review pull`, "
                "name a file in [annotate] reviewed, or set annotator = 'lexicon'"
            )
        from annotation.learned.classifier import LearnedAnnotator

        return LearnedAnnotator(reviewed)
    return LexiconAnnotator()


def problems(params: AnnotateParams, dataset: DatasetParams) -> list[str]:  # noqa: ARG001 - the catalogue's form
    """Return the obstacles to annotating, each with its remedy."""
    found = []
    if params.chosen() == "llm" and (missing := params.llm.missing()) is not None:
        found.append(f"annotate: {missing} ([annotate.llm]), or set annotator = 'lexicon'")
    if params.reviewed is not None and params.learns() and not params.reviewed.is_file():
        found.append(f"annotate: no file {params.reviewed}: correct [annotate] reviewed")
    return found
