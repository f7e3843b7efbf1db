"""A model points at the lines where gates failed: what it proposes is kept where it passes them, and never else."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from build_dataset.annotation.llm import limits
from build_dataset.annotation.llm.messages import BadAnswerError
from build_dataset.pipeline.cli.app import app
from build_dataset.pipeline.parse.draft import Draft
from build_dataset.pipeline.parse.keys import Key
from build_dataset.pipeline.parse.lines import ParsedLine
from build_dataset.pipeline.parse.outline import Block, Outline, PointedItem, Pointing, Role
from build_dataset.pipeline.parse.paper import Gap, ParsedPaper
from build_dataset.pipeline.parse.params import ParseParams, PointParams
from build_dataset.pipeline.parse.pointing import Pointed, accept, requests_of
from build_dataset.pipeline.parse.stage import problems, run
from build_dataset.schemas.documents import Document, Line, LineKind, SourceRow
from tests.annotation.scripted_server import Reply, ScriptedServer
from tests.pipeline.parse.conftest import document_of, lines_of
from tests.pipeline.parse.short import FOUR, items

PAPER = f"{items(1, 2)}\n没有编号的第三项是\n{FOUR}\n{items(4, 5)}\n参考答案\n1.A 2.B 3.C 4.D 5.A"
"""Number 3 was not read: its lines stand in number 2, and 2 and 4 are shown."""


def question(number, first, options=4):
    return {
        "number": number,
        "stem": [first, first],
        "options": [first + 1, first + options],
        "answer": None,
        "explanation": None,
    }


RIGHT = {"questions": [question(2, 1), question(3, 6), question(4, 11)], "none": []}


@pytest.fixture
def ask(context, monkeypatch):
    """Run the stage on a paper against a server that points so; also gives the server."""
    monkeypatch.setattr(limits, "_FIRST_BACKOFF", 0.01)
    servers = []

    def ask(said, paper=PAPER, **options):
        server = ScriptedServer(lambda *_: Reply(content=json.dumps(said)))
        servers.append(server)
        llm = {"base_url": server.url, "model": "pointer", "max_retries": 0, **options}
        tables = {
            "documents": Document.to_frame([document_of()]),
            "lines": Line.to_frame(lines_of(paper)),
            "rows": SourceRow.to_frame([]),
        }
        return run(tables, ParseParams.model_validate({"llm": llm if said else {}}), context), server

    yield ask
    for server in servers:
        server.close()


def kept(result):
    return {row["number"]: "".join(row["answer"]) for row in result.tables["questions"].to_dicts()}


def test_a_question_whose_number_was_not_read_is_found_and_marked(ask):
    result, server = ask(RIGHT)
    assert kept(result) == {1: "A", 2: "B", 3: "C", 4: "D", 5: "A"}
    (third,) = (row for row in result.tables["questions"].to_dicts() if row["number"] == 3)
    assert third["stem"] == "没有编号的第三项是"
    rules = {
        step["rule"]
        for row in result.tables["traces"].to_dicts()
        for step in row["steps"]
        if row["item_id"] == third["question_id"]
    }
    assert "pointed" in rules
    assert result.facts["llm"]["accepted"] == 1
    again, _ = ask(RIGHT)
    assert again.tables["questions"].equals(result.tables["questions"])
    assert sum(server.asked.values()) == 1


def test_nothing_is_asked_where_no_model_is_named(ask):
    result, server = ask(None)
    assert (kept(result).keys() & {2, 3}, sum(server.asked.values())) == (set(), 0)
    assert "llm" not in result.facts


@pytest.mark.parametrize(
    "said",
    [
        {"questions": [question(2, 1), question(3, 6, options=3), question(4, 11)], "none": [10]},
        {"questions": [question(2, 1, options=9), question(4, 11)], "none": []},
        {"questions": [question(2, 1), question(9, 6), question(4, 11)], "none": []},
        {"questions": [{**question(2, 1), "stem": [1, 2], "options": [3, 5]}, *RIGHT["questions"][1:]], "none": []},
        {"questions": [], "none": list(range(1, 16))},
    ],
    ids=["an option left out", "two as one", "another number", "options from B on", "nothing"],
)
def test_what_a_gate_objects_to_is_not_taken(ask, said):
    result, _ = ask(said)
    without, _ = ask(None)
    assert result.tables["questions"].equals(without.tables["questions"])
    assert result.facts["llm"]["accepted"] == 0


def test_ranges_that_leave_lines_out_are_no_answer(ask):
    result, _ = ask({"questions": [question(2, 1)], "none": []})
    assert (result.facts["llm"]["failed"], result.complete) == (1, False)


def test_a_running_line_that_comes_again_may_be_left_out(ask):
    head = "某省统一测验用卷"
    paper = PAPER.replace("没有编号", f"{head}\n没有编号").replace("5. 第5项", f"{head}\n5. 第5项")
    shown = [question(2, 1), question(3, 7), question(4, 12), question(5, 18)]
    result, _ = ask({"questions": shown, "none": [6, 17]}, paper)
    assert kept(result) == {1: "A", 2: "B", 3: "C", 4: "D", 5: "A"}


def test_a_section_without_a_model_is_told_before_anything_is_read():
    params = ParseParams.model_validate({"llm": {"base_url": "http://localhost:1/v1"}})
    assert problems(params, None) == ["[parse.llm] no model is named: set model in its section of dataset.toml"]
    assert problems(ParseParams(), None) == []


def test_a_dry_run_counts_the_requests_and_asks_nobody(tmp_path):
    server = ScriptedServer(lambda *_: Reply(content=json.dumps(RIGHT)))
    (tmp_path / "raw").mkdir()
    (tmp_path / "raw" / "paper.txt").write_text(PAPER, encoding="utf-8")
    options = f'[dataset]\nname = "t"\n[parse.llm]\nbase_url = "{server.url}"\nmodel = "pointer"\n'
    (tmp_path / "dataset.toml").write_text(options, encoding="utf-8")
    config = ["--config", str(tmp_path / "dataset.toml")]
    assert CliRunner().invoke(app, ["ocr", *config]).exit_code == 0
    shown = CliRunner().invoke(app, ["parse", "--dry-run", *config])
    server.close()
    assert shown.exit_code == 0, shown.output
    assert "1 request" in shown.output
    assert server.asked.total() == 0


def judged(*sizes, failing=(), reason="no_answer", gaps=(), heads=(), tables=(), key=False):
    """A paper of items of so many lines, some of which failed a gate; heads and tables stand before items."""
    texts, roles, kinds, drafts = [], [], [], []
    for number, size in enumerate(sizes, 1):
        if number in heads:
            texts.append(f"第{number}部分")
            roles.append(Role.SECTION)
            kinds.append(LineKind.TEXT)
        own = range(len(texts), len(texts) + size)
        texts += [f"{number}.{at}" for at in range(size)]
        roles += [Role.NUMBER, *[Role.TEXT] * (size - 1)]
        kinds += [LineKind.TEXT] * (size - 1) + [LineKind.TABLE if number in tables else LineKind.TEXT]
        drafts.append((number, own))
    pieces = [
        ParsedLine(text, 1, None, None, kind, order=at)
        for at, (text, kind) in enumerate(zip(texts, kinds, strict=True))
    ]
    found = []
    for number, own in drafts:
        draft = Draft(number, 0, [pieces[at] for at in own], Block(), section=1)
        draft.options = [("A", "甲"), ("B", "乙")]
        draft.flags = [(reason, "")] if number in failing else []
        found.append(draft)
    paper = ParsedPaper("x.pdf", pieces, [], found, Key(), None, "", Outline(roles=roles))
    paper.gaps = [Gap(1, number, "") for number in gaps]
    return paper


def regions(paper, most=80):
    found = requests_of([paper], PointParams(lines=most))
    assert [request.id for _, request in found] == [f"x.pdf#{region.first}" for region, _ in found]
    return [(region.first, region.last) for region, _ in found]


@pytest.mark.parametrize(
    ("paper", "expected"),
    [
        (judged(5, 5, 5, 5), []),
        (judged(5, 5, 5, 5, failing=[1]), [(0, 9)]),
        (judged(5, 5, 5, 5, failing=[2]), [(5, 14)]),
        (judged(5, 5, 5, 5, failing=[4]), [(15, 19)]),
        (judged(5, 5, 5, 5, failing=[1, 2]), [(0, 14)]),
        (judged(5, 5, 5, 5, failing=[1, 3]), [(0, 9), (10, 19)]),
        (judged(5, 5, 5, 5, failing=[1], reason="flat_power"), []),
        (judged(5, 5, 5, 5, gaps=[3]), [(5, 14)]),
        (judged(5, 5, 5, 5, failing=[2], heads=[3]), [(5, 9)]),
        (judged(5, 5, 5, 5, failing=[2], tables=[2]), []),
        (judged(5, 5, 5, 5, failing=[2], tables=[3]), [(5, 9)]),
        (judged(5, 5, 5, 5, failing=[1, 2, 3, 4]), [(0, 19)]),
    ],
)
def test_a_region_is_of_items_that_failed_and_the_next_one(paper, expected):
    assert regions(paper) == expected


@pytest.mark.parametrize(
    ("most", "expected"),
    [
        (10, [(0, 9), (10, 19)]),
        (14, [(0, 9), (10, 19)]),
        (15, [(0, 14), (15, 19)]),
        (19, [(0, 14), (15, 19)]),
        (20, [(0, 19)]),
    ],
)
def test_a_region_has_as_many_lines_as_may_be_shown(most, expected):
    assert regions(judged(5, 5, 5, 5, failing=[1, 2, 3, 4]), most) == expected
    shorter = [one for one in expected if one != (15, 19)]  # the last item is sound
    assert regions(judged(5, 5, 5, 5, failing=[1, 2, 3]), most) == shorter


def request(size=4):
    ((_, found),) = requests_of([judged(size, failing=[1])], PointParams())
    return found


def answer(*questions, none=()):
    parts = ("stem", "options", "answer", "explanation")
    told = [{"number": number, **dict(zip(parts, ranges, strict=True))} for number, *ranges in questions]
    return json.dumps({"questions": told, "none": list(none)})


def test_lines_are_shown_with_their_numbers():
    system, user = request().messages
    assert (system["role"], user["role"]) == ("system", "user")
    assert user["content"] == "1| 1.0\n2| 1.1\n3| 1.2\n4| 1.3"


@pytest.mark.parametrize(
    ("text", "good"),
    [
        (answer((1, [1, 1], [2, 4], None, None)), True),
        (answer((1, [1, 1], [2, 3], [4, 4], None)), True),
        (answer((1, [1, 1], [2, 3], None, None), none=[4]), True),
        (answer((1, [2, 2], [3, 4], None, None), none=[1]), True),
        (answer((1, [1, 1], [2, 3], None, None)), False),
        (answer((1, [1, 1], [2, 5], None, None)), False),
        (answer((1, [1, 2], [2, 4], None, None)), False),
        (answer((1, [3, 4], [1, 2], None, None)), False),
        (answer(("1", [1, 1], [2, 4], None, None)), False),
        (answer((1, [0, 1], [2, 4], None, None)), False),
        ('{"questions": []}', False),
        ("[]", False),
        ("{", False),
    ],
)
def test_every_line_belongs_to_one_range_in_order_or_to_none(text, good):
    check = request().check
    assert check is not None
    if good:
        check(text)
        return
    with pytest.raises(BadAnswerError):
        check(text)


def pointing(first=5, last=9, count=1, dropped=()):
    item = PointedItem(2, (first, first), (first + 1, last), None, None, frozenset(dropped), "m")
    return Pointing(first, last, (item,) * count, frozenset(dropped))


def test_an_answer_is_kept_where_its_questions_are_sound():
    before, after = judged(5, 5, 5, failing=[2]), judged(5, 5, 5)
    assert accept(before, after, [pointing()]) == [pointing()]
    assert accept(before, after, [pointing(count=2)]) == []
    assert accept(before, after, [pointing(last=10, count=2)]) == [pointing(last=10, count=2)]
    assert accept(before, after, [pointing(first=4, count=2)]) == [pointing(first=4, count=2)]
    assert accept(before, judged(5, 5, 5, failing=[2]), [pointing()]) == []
    assert accept(before, judged(5, 5, 5, failing=[1]), [pointing()]) == []
    assert accept(before, judged(5, 5, failing=[]), [pointing()]) == []


@pytest.mark.parametrize(
    ("change", "sound"), [({"set_aside": ("a", "b")}, False), ({"options": []}, False), ({}, True)]
)
def test_a_sound_question_has_options_and_is_not_set_aside(change, sound):
    after = judged(5, 5, 5)
    for name, value in change.items():
        setattr(after.drafts[1], name, value)
    assert accept(judged(5, 5, 5, failing=[2]), after, [pointing()]) == ([pointing()] if sound else [])


@pytest.mark.parametrize(
    ("text", "again", "kept"), [("某网站", 0, False), ("某网站", 1, True), ("内科学试卷", 0, True), ("第3页", 0, True)]
)
def test_a_line_that_is_left_out_comes_again_or_is_a_title_or_a_foot(text, again, kept):
    after = judged(5, 5, 5)
    places = [7, 12][: 1 + again]
    after.pieces = [
        ParsedLine(text if at in places else piece.text, 1, None, None, LineKind.TEXT, order=at)
        for at, piece in enumerate(after.pieces)
    ]
    told = pointing(dropped=[7])
    assert accept(judged(5, 5, 5, failing=[2]), after, [told]) == ([told] if kept else [])


def test_a_key_alone_is_not_asked_about():
    paper = judged(5, failing=[1])
    assert len(requests_of([paper, paper], PointParams())) == 2
    paper.drafts = []
    assert requests_of([paper], PointParams()) == []


def test_what_is_told_of_the_answers():
    found = Pointed({"x.pdf": [pointing()], "y.pdf": [pointing(), pointing()]}, asked=5, failed=1)
    assert found.facts() == {"asked": 5, "failed": 1, "accepted": 3, "cost": 0.0}
    assert Pointed().facts() == {"asked": 0, "failed": 0, "accepted": 0, "cost": 0.0}
