"""Reads what a text asserts or denies of a multiple-choice question's options: Chinese, English, Japanese, Korean.

One grammar for the reading of models' answers, the gates of ``parse`` and the audit of keys::

    text = read_claims("A错误，排除C。故选B。", {"A": "…", "B": "…", "C": "…"})
    text.answer         # ('B',): the answer stated last; None where none is
    text.judged.wrong   # ('A', 'C'): options that are called wrong or ruled out
    text.judged.right   # options that are called right
    text.claims         # each claim: labels, stance (asserted, denied), kind, where

Offsets hold for the text as given. It imports nothing heavy, takes time linear in the text, and raises on no text.
"""

from collections.abc import Mapping

from build_dataset.pipeline.claims.folding import blank_thinking, fold, visible_output
from build_dataset.pipeline.claims.grammar import Claim, Stance, Text

__all__ = ["Claim", "Stance", "Text", "blank_thinking", "fold", "read_claims", "visible_output"]


def read_claims(text: str, options: Mapping[str, str], multiple: bool | None = None) -> Text:
    """Read a printed text; ``options`` are texts by capital letter, ``multiple`` is None where it is not known."""
    return Text(fold(text), {fold(label).upper(): fold(body) for label, body in options.items()}, multiple)
