"""A vision model behind an endpoint reads pages: once, with boxes or without, and what it does not answer is told."""

from __future__ import annotations

import json

import pytest
from PIL import Image

from annotation.llm import pace
from pipeline.ocr import stage
from pipeline.ocr.params import OcrParams
from schemas.documents import Line
from schemas.errors import UserError
from tests.annotation.scripted_server import Reply, ScriptedServer

LINES = [
    ("1. 下列何者正确", [100, 100, 600, 130]),
    ("A.甲", [100, 150, 200, 180]),
    ("B.乙", [500, 150, 600, 180]),
]


def told(lines) -> str:
    return json.dumps({"lines": [{"text": text, "box": box} for text, box in lines]}, ensure_ascii=False)


@pytest.fixture
def ask(context, files_table, monkeypatch):
    """Run the stage on a scan against a server that answers so; also gives the server."""
    monkeypatch.setattr(pace, "_FIRST_BACKOFF", 0.01)
    Image.new("RGB", (600, 800), "white").save(context.raw / "scan.png")
    servers: list[ScriptedServer] = []

    def run(reply: Reply, **options):
        server = ScriptedServer(lambda question, earlier, body: reply)
        servers.append(server)
        llm = {"base_url": server.url, "model": "eyes", "max_retries": 0, **options}
        params = OcrParams.model_validate({"engine": "vision", "vision": llm})
        return stage.run({"files": files_table(context.raw)}, params, context), server

    yield run
    for server in servers:
        server.close()


def lines(result) -> list[str]:
    return [line.text for line in Line.from_frame(result.tables["lines"])]


def test_a_page_is_asked_for_once_in_a_strict_form_and_laid_out_by_its_boxes(ask):
    result, server = ask(Reply(content=told(LINES)))
    assert lines(result) == ["1. 下列何者正确", "A.甲\tB.乙"]
    assert result.tables["pages"]["engine"].to_list() == ["vision"]
    assert sum(server.asked.values()) == 1
    assert "data:image/jpeg;base64," in next(iter(server.asked))
    again, _ = ask(Reply(status=500), base_url=server.url)
    assert lines(again) == lines(result)
    assert sum(server.asked.values()) == 1


@pytest.mark.parametrize("box", [None, [5, 5], [900, 10, 100, 20], [0, 0, 2000, 10]])
def test_without_sound_boxes_lines_keep_the_order_they_came_in(ask, box):
    result, _ = ask(Reply(content=told([*LINES[:2], ("B.乙", box), ("C.丙", None)])))
    assert lines(result) == ["1. 下列何者正确", "A.甲", "B.乙", "C.丙"]


@pytest.mark.parametrize(
    "reply",
    [Reply(content="no JSON"), Reply(content='{"lines": [{"box": null}]}'), Reply(finish_reason="length")],
)
def test_an_answer_of_no_use_leaves_the_page_to_the_next_run(ask, reply):
    result, _ = ask(reply)
    assert [reject.reason for reject in result.rejects] == ["not_answered"]
    assert not result.complete


def test_a_page_above_the_cap_is_not_asked_for(ask):
    result, server = ask(Reply(content=told(LINES)), price_in=1.0, price_out=1.0, max_cost=0.001)
    assert [reject.reason for reject in result.rejects] == ["not_answered"]
    assert sum(server.asked.values()) == 0


def test_no_model_is_one_line(context, files_table):
    Image.new("RGB", (60, 80), "white").save(context.raw / "scan.png")
    with pytest.raises(UserError, match=r"\[ocr.vision\]"):
        stage.run(
            {"files": files_table(context.raw)}, OcrParams.model_validate({"engine": "vision"}), context
        )
