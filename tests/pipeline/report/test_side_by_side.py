"""Questions side by side: only what tells them apart is marked."""

from build_dataset.pipeline.report.texts import side_by_side


def question(stem="关于幽门螺杆菌，正确的是", options="甲乙丙丁", answer="A", **more):
    return {
        "question_id": "q",
        "stem": stem,
        "options": [{"label": label, "text": text * 3} for label, text in zip("ABCD", options, strict=True)],
        "answer": list(answer),
        **more,
    }


def marked(card):
    runs = [run for run, marks in card.stem.pieces if marks]
    for label, text in card.options:
        runs += [run for run, marks in (label, *text.pieces) if marks]
    return runs + ([card.answer[0]] if card.answer[1] else [])


def test_equal_questions_have_no_marks():
    assert [marked(card) for card in side_by_side(question(), question(), 400)] == [[], []]


def test_options_in_another_order_are_marked_by_their_letters_alone():
    one, other = side_by_side(question(), question(options="乙甲丙丁", answer="B"), 400)
    assert marked(one) == ["A", "B", "A"]
    assert marked(other) == ["A", "B", "B"]


def test_a_negation_is_marked_and_nothing_else():
    one, other = side_by_side(question(), question(stem="关于幽门螺杆菌，不正确的是"), 400)
    assert (marked(one), marked(other)) == ([], ["不"])


def test_an_option_too_many_is_marked_whole():
    more = question()
    more["options"] = [*more["options"], {"label": "E", "text": "以上都不是"}]
    assert marked(side_by_side(question(), more, 400)[1]) == ["以上都不是"]


def test_keys_that_differ_are_marked_also_where_one_is_missing():
    one, other = side_by_side(question(), question() | {"answer": None}, 400)
    assert marked(one) == ["A"]
    assert marked(other) == [""]


def test_a_shared_case_stands_before_its_stem():
    shown, _ = side_by_side(question(shared_stem="患者，男。"), question(shared_stem="患者，女。"), 400)
    assert marked(shown) == ["男"]
