"""A server that plays the second reader: it sees the questions of a request, and says what a test wants."""

import json
import re
from collections.abc import Callable
from typing import Any

from tests.annotation.scripted_server import Reply, Script, ScriptedServer

Shown = dict[str, Any]  # a question as the model sees it
Says = Callable[[Shown], list[dict[str, str]]]


def shown_in(content: str) -> list[Shown]:
    """The questions of a request: each is JSON of one line between its marks."""
    return [json.loads(text) for text in re.findall(r"<题目>\n(.*)\n</题目>", content)]


def doubt(kind: str, field: str, quote: str, proposal: str = "") -> dict[str, str]:
    return {"kind": kind, "field": field, "quote": quote, "proposal": proposal}


def answer(content: str, says: Says) -> str:
    found = [{"no": shown["no"], "doubts": says(shown)} for shown in shown_in(content)]
    return json.dumps({"questions": found}, ensure_ascii=False)


def saying(says: Says, **more: Any) -> Script:
    """A script that says this of every question."""
    return lambda content, earlier, body: Reply(content=answer(texts(body), says), **more)


def reader(says: Says) -> ScriptedServer:
    return ScriptedServer(saying(says))


def texts(body: dict[str, Any]) -> str:
    """The user's text of a request, without pictures."""
    content = body["messages"][-1]["content"]
    return content if isinstance(content, str) else "\n".join(part.get("text", "") for part in content)
