"""A vision model behind an endpoint reads pages: once, with boxes or without, and what it does not answer is told."""

import base64
import io
import json
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from PIL import Image

from build_dataset.annotation.llm import limits
from build_dataset.pipeline.ocr import engines, stage, tasks
from build_dataset.pipeline.ocr.engines import vision
from build_dataset.pipeline.ocr.interfaces import Word
from build_dataset.pipeline.ocr.params import OcrParams, VisionParams
from build_dataset.pipeline.stage import Failure
from build_dataset.schemas.documents import Line
from build_dataset.schemas.errors import UserError
from tests.annotation.scripted_server import Reply, ScriptedServer

LINES = [("1. 下列何者正确", [100, 100, 600, 130]), ("A.甲", [100, 150, 200, 180]), ("B.乙", [500, 150, 600, 180])]


def told(lines) -> str:
    return json.dumps({"lines": [{"text": text, "box": box} for text, box in lines]}, ensure_ascii=False)


@pytest.fixture
def ask(context, files_table, monkeypatch):
    """Run the stage on a scan against a server that answers so; also gives the server."""
    monkeypatch.setattr(limits, "_FIRST_BACKOFF", 0.01)
    Image.new("RGB", (600, 800), "white").save(context.raw / "scan.png")
    servers: list[ScriptedServer] = []

    def run(reply: Reply, engine="vision", second=None, second_below=0.95, **options):
        server = ScriptedServer(lambda question, earlier, body: reply)
        servers.append(server)
        llm = {"base_url": server.url, "model": "eyes", "max_retries": 0, **options}
        given = {"engine": engine, "second": second, "second_below": second_below, "vision": llm}
        params = OcrParams.model_validate(given)
        return stage.run({"files": files_table(context.raw)}, params, context), server

    yield run
    for server in servers:
        server.close()


class FirstEngine:
    """An embedded engine that reads the page of ``LINES``, unsure of it, and one number of it wrong."""

    def recognise(self, pixels):
        height, width = pixels.shape[:2]
        return [
            Word(
                text.replace("乙", "乙 5mg"), tuple((x * width / 1000, y * height / 1000) for x, y in corners(box)), 0.8
            )
            for text, box in LINES
        ]


def corners(box):
    x0, y0, x1, y1 = box
    return ((x0, y0), (x1, y0), (x1, y1), (x0, y1))


def second(ask, monkeypatch, reply, **options):
    monkeypatch.setattr(engines, "load", lambda params: FirstEngine())
    return ask(reply, engine="auto", second="vision", **options)


def test_as_second_engine_it_confirms_lines_or_shows_where_they_differ(ask, monkeypatch):
    result, server = second(ask, monkeypatch, Reply(content=told(LINES)))
    first, options = Line.from_frame(result.tables["lines"])
    assert (first.text, first.other) == ("1. 下列何者正确", None)
    assert first.confidence > 0.95
    assert (options.text, options.other) == ("A.甲\tB.乙 5mg", "A.甲B.乙")
    assert options.confidence == 0.8
    assert sum(server.asked.values()) == 1
    assert result.complete


def test_a_second_engine_that_does_not_answer_costs_nothing_but_another_run(ask, monkeypatch):
    result, _ = second(ask, monkeypatch, Reply(content="no JSON"))
    assert lines(result) == ["1. 下列何者正确", "A.甲\tB.乙 5mg"]
    assert not result.complete


def test_pages_that_the_first_engine_is_sure_of_are_not_sent(ask, monkeypatch):
    _, server = second(ask, monkeypatch, Reply(content=told(LINES)), second_below=0.5)
    assert not server.asked


@pytest.mark.parametrize(("options", "sent"), [({"engine": "vision"}, 1), ({"second": "vision"}, 1), ({}, 0)])
def test_what_would_be_sent_is_counted_without_sending_it(context, files_table, monkeypatch, options, sent):
    Image.new("RGB", (600, 800), "white").save(context.raw / "scan.png")
    monkeypatch.setattr(engines, "load", lambda params: FirstEngine())
    params = OcrParams.model_validate(options)
    assert stage.vision_pages({"files": files_table(context.raw)}, params, context) == sent


def test_single_lines_are_read_by_the_embedded_engine(context, files_table, make_pdf, monkeypatch):
    path = make_pdf([[(60, 100, "1. 单纯疱疹病毒的叙述"), (60, 130, "A.甲")]])
    (context.raw / "paper.pdf").write_bytes(path.read_bytes())
    plain = tasks.read_pages

    def damaged(task):
        values = plain(task)
        for line in values[0]["lines"]:
            line[0] = line[0].replace("疱", "\uef43")
        return values

    class OneLine:
        def recognise(self, pixels):
            height, width = pixels.shape[:2]
            return [Word("1. 单纯疱疹病毒的叙述", corners((0, 2, width, height - 2)), 0.9)]

    damaged.__module__ = plain.__module__
    monkeypatch.setattr(stage, "read_pages", damaged)
    monkeypatch.setattr(engines, "load", lambda params: OneLine())
    params = OcrParams.model_validate({"engine": "vision"})
    result = stage.run({"files": files_table(context.raw)}, params, context)
    assert lines(result) == ["1. 单纯疱疹病毒的叙述", "A.甲"]


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
    "reply", [Reply(content="no JSON"), Reply(content='{"lines": [{"box": null}]}'), Reply(finish_reason="length")]
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
        stage.run({"files": files_table(context.raw)}, OcrParams.model_validate({"engine": "vision"}), context)


def test_the_lines_of_a_model_stand_where_it_says_or_below_each_other():
    params = VisionParams(model="m")
    lines = [{"text": " 甲 ", "box": [100, 200, 300, 400]}, {"text": "乙", "box": [0, 0, 1000, 1000]}]
    assert vision._page(lines, 200.0, 400.0, params) == {
        "width": 200.0,
        "height": 400.0,
        "turned": 0,
        "legibility": 1.0,
        "words": [
            ["甲", 20.0, 80.0, 60.0, 80.0, 60.0, 160.0, 20.0, 160.0, 0.95],
            ["乙", 0.0, 0.0, 200.0, 0.0, 200.0, 400.0, 0.0, 400.0, 0.95],
        ],
        "marks": {},
    }
    lines[1]["box"] = [5, 5, 5, 9]
    assert vision._page(lines, 200.0, 400.0, params)["words"] == [
        ["甲", 10.0, 0.0, 190.0, 0.0, 190.0, 140.0, 10.0, 140.0, 0.95],
        ["乙", 10.0, 200.0, 190.0, 200.0, 190.0, 340.0, 10.0, 340.0, 0.95],
    ]
    assert vision._page([], 200.123, 400.0, params)["width"] == 200.12


@pytest.mark.parametrize(
    ("box", "sound"),
    [
        ([1, 2, 3, 4], True),
        ([0, 0, 1000, 1000], True),
        ([0.5, 1, 2, 3], True),
        (None, False),
        ([1, 2, 3], False),
        ([1, 2, 1, 4], False),
        ([1, 2, 3, 2], False),
        ([-1, 0, 1, 1], False),
        ([0, -1, 1, 1], False),
        ([0, 0, 1001, 1], False),
        ([0, 0, 1, 1001], False),
        ([0, 0, "1", 1], False),
    ],
)
def test_a_box_is_four_ordered_thousandths(box, sound):
    assert vision._sound(box) == (tuple(map(float, box)) if sound else None)


def test_the_estimate_counts_a_picture_by_its_pixels():
    told = VisionParams(model="m").estimate(10)
    assert told.startswith("10 pages to send, about 38,080 tokens in and 30,000 out: cost unknown")
    small = VisionParams(model="m", price_in=1000.0, price_out=2000.0, side=1000, max_tokens=100)
    assert small.estimate(3) == "3 pages to send, about 3,306 tokens in and 300 out: 3.91 USD"


def test_a_line_alone_without_a_box_stands_at_the_top_of_its_page() -> None:
    found = vision._page([{"text": "甲"}], 200.1264, 400.1264, VisionParams(model="m"))
    assert (found["width"], found["height"]) == (200.13, 400.13)
    (word,) = found["words"]
    assert word[1:9] == pytest.approx([10.00632, 0, 190.12008, 0, 190.12008, 280.08848, 10.00632, 280.08848])


def test_pages_are_drawn_four_for_each_request_in_flight(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: list[int] = []

    def draw(work: Any, pages: Any, timeout: float) -> Iterator[tuple[Any, Failure]]:
        assert (work, timeout) == (vision.picture, 7.0)
        drawn.append(len(pages))
        for page in pages:
            yield page, Failure("timeout", "slow")

    asks = SimpleNamespace(complete_many=lambda requests, store: requests)
    monkeypatch.setattr(vision, "LlmClient", lambda options: asks)
    context: Any = SimpleNamespace(map=draw, store=None)
    given: Any = list(range(19))
    options = VisionParams(base_url="http://127.0.0.1:9", model="m", concurrency=2)
    found = list(vision.recognise_pages(given, options, context, 7.0))
    assert drawn == [8, 8, 3]
    assert found == [(page, Failure("timeout", "slow")) for page in range(19)]


def test_a_picture_is_a_good_jpeg_no_longer_than_asked_for(tmp_path: Path) -> None:
    Image.effect_noise((600, 800), 60).save(tmp_path / "scan.png")
    params = OcrParams.model_validate({"vision": {"side": 512}})
    task: Any = SimpleNamespace(format="image", path=tmp_path / "scan.png", pages=(1,), params=params)
    found = vision.picture(task)
    sent = Image.open(io.BytesIO(base64.b64decode(found["jpeg"])))
    like = io.BytesIO()
    Image.new("RGB", (8, 8)).save(like, "JPEG", quality=90)
    assert (sent.format, sent.size) == ("JPEG", (384, 512))
    assert getattr(sent, "quantization") == getattr(Image.open(like), "quantization")  # noqa: B009
    assert (found["width"], found["height"]) == pytest.approx((631.5, 842))
