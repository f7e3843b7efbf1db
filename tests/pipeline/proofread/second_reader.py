"""A server that plays the second reader: it sees the question of a request, and says what a test wants."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

from tests.annotation.scripted_server import Reply, ScriptedServer

Shown = dict[str, Any]  # a question as the model sees it
Says = Callable[[Shown], list[dict[str, str]]]


def shown_in(content: str) -> Shown:
    """The question of a request: JSON of one line between its marks."""
    [text] = re.findall(r"<题目>\n(.*)\n</题目>", content)
    found: Shown = json.loads(text)
    return found


def doubt(kind: str, field: str, quote: str, proposal: str = "") -> dict[str, str]:
    return {"kind": kind, "field": field, "quote": quote, "proposal": proposal}


def answer(content: str, says: Says) -> str:
    return json.dumps({"doubts": says(shown_in(content))}, ensure_ascii=False)


def reader(says: Says) -> ScriptedServer:
    """Start a server that says this of every question."""
    return ScriptedServer(lambda content, earlier, body: Reply(content=answer(content, says)))
