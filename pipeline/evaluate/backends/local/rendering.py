"""A chat as the text that a model continues."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from pipeline.evaluate.prompting import Message


class ChatTokenizer(Protocol):
    """What is asked of a tokenizer."""

    chat_template: Any

    def apply_chat_template(self, conversation: list[Message], **settings: Any) -> Any:
        """The chat in the model's own form."""


def render(messages: Sequence[Message], tokenizer: ChatTokenizer, *, template: bool) -> str:
    """The text to be continued.

    Args:
        messages: the turns, the last one the user's.
        tokenizer: of the model.
        template: whether the model's own chat template is used; otherwise turns are bare text, each answer below its
            question and a blank line between pairs, as CMB asks models that know no chat.
    """
    if not template:
        return "".join(f"{turn['content']}{_ENDS[turn['role']]}" for turn in messages)
    turns = list(messages)
    try:
        return str(tokenizer.apply_chat_template(turns, tokenize=False, add_generation_prompt=True))
    except Exception:
        if turns[0]["role"] != "system":
            raise
        # Some templates know no system turn; what it says then opens the first question.
        system, first, *rest = turns
        joined = {"role": "user", "content": f"{system['content']}\n\n{first['content']}"}
        return str(tokenizer.apply_chat_template([joined, *rest], tokenize=False, add_generation_prompt=True))


_ENDS = {"system": "\n\n", "user": "\n", "assistant": "\n\n"}
