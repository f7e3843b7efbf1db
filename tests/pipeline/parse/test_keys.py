"""Keys in documents of their own: matched to their paper, applied, overridden after appeals."""

from copy import deepcopy

import pytest

from build_dataset.pipeline.parse.draft import Draft
from build_dataset.pipeline.parse.keylines import KeyLine, line_pairs
from build_dataset.pipeline.parse.keys import Key, KeyEntry, KeyRun, apply_entries, corrections, counted_place, key_of
from build_dataset.pipeline.parse.outline import Block, NumberedItem, Outline
from build_dataset.pipeline.parse.pairing import PairedDocument, find_papers, name_stem
from build_dataset.pipeline.parse.stage import pair_keys

OPTIONS = "(A)甲\t(B)乙\n(C)丙\t(D)丁"
GRID = "題號\t01\t02\t03\t04\n答案\tＡ\tＢ\t{third}\tＤ"
HEAD = "112年第一次考試\n科目：醫學（試題代號：1302）\n題數：4題\n"


def paper_text(count: int = 4, head: str = HEAD) -> str:
    return head + "\n".join(f"{number}.第{number}題為何？\n{OPTIONS}" for number in range(1, count + 1))


@pytest.fixture
def documents(read):
    def documents(**texts: str):
        return [read(text, name.replace("__", ".").replace("_s_", "/")) for name, text in sorted(texts.items())]

    return documents


def answers(paper):
    return ["".join(draft.answer or "?") for draft in paper.questions]


@pytest.mark.parametrize(
    ("paper", "key"),
    [
        ("tw_105-1_11_paper.pdf", "tw_105-1_11_answerkey.pdf"),
        ("tw_105-1_11_paper.pdf", "tw_105-1_11_corrected_key.pdf"),
        ("101110_0103.pdf", "101110_ANS0103.pdf"),
        ("101110_0103.pdf", "101110_MOD0103.pdf"),
        ("样卷三.pdf", "样卷三_答案.pdf"),
        ("样卷三试题.docx", "样卷三参考答案.pdf"),
        ("scan-2024-03.pdf", "scan-2024-03_answers.pdf"),
        ("a/x.pdf", "a/x-key.pdf"),
        ("Exam/x.pdf", "Ans/x.pdf"),
        ("2020/papers/nursing 1.pdf", "2020/answers/nursing 1.pdf"),
        ("试卷/甲.pdf", "答案/甲.pdf"),
    ],
)
def test_names_of_a_paper_and_its_key_have_one_stem(paper, key):
    assert name_stem(paper) == name_stem(key)


@pytest.mark.parametrize(("one", "other"), [("105-1_11.pdf", "105-2_11_key.pdf"), ("a/x.pdf", "b/x_key.pdf")])
def test_names_of_different_papers_have_different_stems(one, other):
    assert name_stem(one) != name_stem(other)


def test_a_key_goes_to_the_paper_of_its_name(documents):
    key, paper = documents(x_key__pdf=HEAD + GRID.format(third="Ｃ"), x_paper__pdf=paper_text())
    outcome = pair_keys([key, paper])
    assert (len(outcome.keys), outcome.review) == (1, [])
    assert answers(paper) == ["A", "B", "C", "D"]


def test_a_corrected_key_overrides_the_original_whatever_their_order(documents):
    note = "\n備註：第3題答Ａ、Ｃ給分，第4題一律給分。"
    original = HEAD + GRID.format(third="Ｃ")
    corrected = HEAD + GRID.format(third="＃") + note
    for names in (("x_ANS1", "x_MOD1"), ("x_corrected_key", "x_answerkey")):
        texts = dict(zip(names, (original, corrected) if "MOD1" in names[1] else (corrected, original), strict=True))
        papers = documents(x__pdf=paper_text(), **{f"{name}__pdf": text for name, text in texts.items()})
        paper = next(found for found in papers if not found.is_key)
        if "MOD1" in names[1]:
            paper.document = "x_1.pdf"
        outcome = pair_keys(papers)
        assert len(outcome.keys) == 2
        third, fourth = paper.questions[2:]
        assert (third.answer, third.accepted) == ("C", ["A", "C"])
        assert (fourth.answer, fourth.accepted) == ("D", ["A", "B", "C", "D"])
        assert third.comment == "第3題答A、C給分"


def test_a_key_without_a_matching_name_is_found_by_code_count_and_year(documents):
    key, other, paper = documents(
        key__pdf=HEAD + GRID.format(third="Ｃ"),
        one__pdf=paper_text(head=HEAD.replace("1302", "1303")),
        two__pdf=paper_text(),
    )
    assert find_papers(key, [*map(PairedDocument, (other, paper))]) == [paper]


def test_a_key_of_two_equal_papers_waits(documents):
    key, one, two = documents(key__pdf=HEAD + GRID.format(third="Ｃ"), one__pdf=paper_text(), two__pdf=paper_text())
    outcome = pair_keys([key, one, two])
    assert (len(outcome.keys), [item.reason for item in outcome.review]) == (0, ["key_of_several_papers"])
    assert answers(one) == answers(two) == ["?"] * 4


def test_a_key_without_a_paper_waits(documents):
    (key,) = documents(key__pdf=GRID.format(third="Ｃ"))
    outcome = pair_keys([key])
    assert [item.reason for item in outcome.review] == ["key_without_paper"]


def test_a_key_of_another_year_is_not_taken(documents):
    key, paper = documents(key__pdf=HEAD.replace("112年", "111年") + GRID.format(third="Ｃ"), two__pdf=paper_text())
    assert find_papers(key, [PairedDocument(paper)]) == []


def test_a_second_original_key_waits(documents):
    one, two, paper = documents(
        x_ans__pdf=GRID.format(third="Ｃ"), x_key__pdf=GRID.format(third="Ｄ"), x_paper__pdf=paper_text()
    )
    outcome = pair_keys([one, two, paper])
    assert [item.reason for item in outcome.review] == ["second_key"]
    assert answers(paper)[2] == "C"


def test_answers_to_questions_that_the_paper_lacks_are_told(documents):
    key, paper = documents(x_key__pdf=GRID.format(third="Ｃ"), x_paper__pdf=paper_text(3, head=""))
    outcome = pair_keys([key, paper])
    assert outcome.notes == ["x_key.pdf answers 4, which x_paper.pdf does not have"]


def test_a_letter_that_differs_in_the_corrected_key_replaces_the_original(documents):
    key, modified, paper = documents(
        x_key__pdf=HEAD + GRID.format(third="Ｃ"), x_mod__pdf=HEAD + GRID.format(third="Ｂ"), x_paper__pdf=paper_text()
    )
    assert pair_keys([key, modified, paper]).review == []
    assert (answers(paper)[2], paper.questions[2].flags) == ("B", [])


def test_a_key_whose_paper_is_absent_takes_no_paper_of_another_session(read):
    foreign = read(GRID.format(third="Ｂ"), "106020_ANS11.pdf")
    own = read(GRID.format(third="Ｃ"), "106080_ANS11.pdf")
    paper = read(paper_text(head=""), "106080_11.pdf")
    outcome = pair_keys([foreign, own, paper])
    assert [item.reason for item in outcome.review] == ["key_without_paper"]
    assert answers(paper) == ["A", "B", "C", "D"]


@pytest.mark.parametrize(
    ("key", "paper"),
    [
        ("106020_ANS11.pdf", "106080_11.pdf"),
        ("2021年下半年_答案.pdf", "2021年上半年.pdf"),
        ("第二次模拟_答案.pdf", "第一次模拟.pdf"),
        ("B卷答案.pdf", "A卷.pdf"),
        ("2019/key.pdf", "2020/exam.pdf"),
    ],
)
def test_what_the_texts_share_counts_for_nothing_where_the_names_tell_two_sessions_apart(read, key, paper):
    outcome = pair_keys([read(HEAD + GRID.format(third="Ｃ"), key), read(paper_text(), paper)])
    assert [item.reason for item in outcome.review] == ["key_without_paper"]


def test_a_key_found_by_its_text_goes_to_a_paper_without_a_key_only(read):
    own = read(GRID.format(third="Ｃ"), "x_key.pdf")
    other = read(HEAD + GRID.format(third="Ｂ"), "answers.pdf")
    paper = read(paper_text(), "x.pdf")
    outcome = pair_keys([other, own, paper])
    assert (outcome.keys, answers(paper)[2]) == ({"x_key.pdf": "x.pdf"}, "C")
    assert [item.item_id for item in outcome.review] == ["answers.pdf"]


def test_a_key_of_the_right_name_that_tells_of_another_session_is_never_applied(read):
    key = read(HEAD.replace("112年第一次", "112年第二次") + GRID.format(third="Ｃ"), "x_key.pdf")
    paper = read(paper_text(), "x.pdf")
    outcome = pair_keys([key, paper])
    assert [item.reason for item in outcome.review] == ["key_contradicts"]
    assert answers(paper) == ["?"] * 4


def test_a_key_that_contradicts_the_answers_in_the_paper_is_not_applied_and_what_differs_waits(read):
    printed = "".join(f"{n}. 第{n}題為何？\n{OPTIONS}\n答案：{'ABCDAB'[n - 1]}\n" for n in range(1, 7))
    paper = read(printed + f"7. 第7題為何？\n{OPTIONS}", "x.pdf")
    key = read("1.A 2.C 3.D 4.A 5.A 6.B 7.C", "x_key.pdf")
    outcome = pair_keys([key, paper])
    assert [item.reason for item in outcome.review] == ["key_contradicts"]
    assert answers(paper)[6] == "?"
    assert [draft.number for draft in paper.questions if draft.flags] == [2, 3, 4]


def test_a_second_key_that_differs_makes_the_questions_wait_that_it_answers_otherwise(read):
    keys = [read(GRID.format(third=letter), f"x_{name}.pdf") for name, letter in (("ans", "Ｃ"), ("key", "Ｄ"))]
    paper = read(paper_text(), "x.pdf")
    pair_keys([*keys, paper])
    assert [draft.number for draft in paper.questions if draft.flags] == [3]


def asked(number, section=1, *, options=True, answer=None, head="", suffix="", in_blank=False):
    """A question of a paper, without its lines."""
    draft = Draft(number, section, [], Block([head] if head else []), section=section, suffix=suffix)
    draft.options = [("A", "甲"), ("B", "乙"), ("C", "丙"), ("D", "丁")] if options else []
    draft.answer, draft.in_blank = answer, in_blank
    return draft


def run_of(answers, after=0, head="", *, first=1, title="", noted=(), short=None):
    """A run of a key: letters from a number on, ``-`` for an entry without letters."""
    entries = {
        number: KeyEntry(None if letters == "-" else letters, head=head)
        for number, letters in enumerate(answers, first)
    }
    return KeyRun(entries, head=head, title=title, after_section=after, noted={*noted}, short=short or {})


def applied(runs, drafts, titles=None, corrections=(), *, replace=False):
    """The entries left unmatched, the answers of a paper, and the reasons for which its questions wait."""
    unmatched = apply_entries(Key(runs, [*corrections]), drafts, titles or {}, replace=replace)
    letters = "".join(draft.answer or "-" for draft in drafts)
    return (unmatched, letters, {at: [why for why, _ in one.flags] for at, one in enumerate(drafts) if one.flags})


def sections(*sizes, heads=(), options=()):
    """Questions from 1 on in each of some sections."""
    return [
        asked(number, at, head=heads[at - 1] if heads else "", options=options[at - 1] if options else True)
        for at, size in enumerate(sizes, 1)
        for number in range(1, size + 1)
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("第3題答A、C給分", [((3,), ("A", "C"), "第3題答A、C給分", False)]),
        (
            "第3題答（A）給分，第4、5題一律給分。",
            [((3,), ("A",), "第3題答A給分", False), ((4, 5), (), "第4、5題一律給分", False)],
        ),
        ("第3题答案更正为BD", [((3,), ("BD",), "第3题答案更正为BD", False)]),
        ("第3题删除", [((3,), (), "第3题删除", True)]),
        ("第3题好", []),
        ("勘误：12, 13", [((12, 13), (), "勘误：12, 13", True)]),
        ("第12题送分。\n勘误：12, 13", [((12,), (), "第12题送分", False), ((13,), (), "勘误：12, 13", True)]),
        ("勘误：见下页", []),
        ("備註：第43題答A、C給分", [((43,), ("A", "C"), "第43題答A、C給分", False)]),
        ("備註：第68題答A給分", [((68,), ("A",), "第68題答A給分", False)]),
        ("備註：第68題一律給分。", [((68,), (), "第68題一律給分", False)]),
        ("備註：第5題除未作答者不給分外，其餘均給分", [((5,), (), "第5題除未作答者不給分外，其餘均給分", False)]),
        ("備註：第23題答A或B或AB者均給分", [((23,), ("A", "B", "AB"), "第23題答A或B或AB者均給分", False)]),
        ("備註：第7题答案更正为D", [((7,), ("D",), "第7题答案更正为D", False)]),
        ("備註：第3、4题送分", [((3, 4), (), "第3、4题送分", False)]),
    ],
)
def test_notes_on_corrections(text, expected):
    assert [(note.numbers, note.accepted, note.note, note.unread) for note in corrections(text)] == expected


def test_a_second_entry_completes_the_first_or_contradicts_it():
    run = KeyRun()
    run.add(1, None, "甲")
    run.add(1, "A", "乙")
    run.add(2, "B")
    run.add(2, "B")
    run.add(2, None)
    run.add(3, "C")
    run.add(3, "D")
    found = {number: (entry.letters, entry.explanation) for number, entry in run.entries.items()}
    assert found == {1: ("A", "甲"), 2: ("B", None), 3: ("C", None)}
    assert run.repeated == [3]


def test_the_size_the_letters_and_the_numbers_of_a_key():
    key = Key([run_of("AB-"), run_of("C")], corrections("第9题送分"))
    assert (key.size, key.letters, key.numbers) == (4, {1: "C", 2: "B", 3: None}, {1, 2, 3, 9})


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ([(0, "一", "1.A 2.B"), (0, "一", "3.C")], [(0, "1A 2B 3C")]),
        ([(0, "一", "1.A 2.B"), (0, "一", "2.C")], [(0, "1A 2B"), (0, "2C")]),
        ([(0, "一", "1.A 3.B"), (0, "一", "2.C")], [(0, "1A 3B 2C")]),
        ([(0, "一", "1.A 3.B"), (0, "二", "2.C")], [(0, "1A 3B"), (0, "2C")]),
        ([(0, "一", "1.A 3.B"), (0, "二", "4.C")], [(0, "1A 3B 4C")]),
        ([(0, "一", "1.A"), (1, "一", "2.B")], [(0, "1A"), (1, "2B")]),
        ([(1, "一", "1.A"), (2, "一", "2.B")], [(1, "1A"), (2, "2B")]),
        ([(0, "一", "1.# 2.B")], [(0, "1- 2B")]),
    ],
)
def test_lines_of_a_key_make_runs(lines, expected):
    items = [NumberedItem(number, number, number - 1, [], Block()) for number in (1, 2)]
    outline = Outline(items=items)
    outline.keys = [KeyLine(line_pairs(text), item=at, head=head) for at, head, text in lines]
    drafts = [asked(1, 1), asked(2, 2)]
    drafts[0].run, drafts[1].run = 0, 1
    said = [
        (run.after_section, " ".join(f"{number}{one.letters or '-'}" for number, one in run.entries.items()))
        for run in key_of(outline, drafts).runs
    ]
    assert said == expected


@pytest.mark.parametrize(
    ("title", "expected"),
    [
        ("第二套答案", 2),
        ("第12套", 12),
        ("答案（A卷）", 1),
        ("答案（C卷）", 3),
        ("卷B", 2),
        ("试卷三参考答案", 3),
        ("第十一章", 11),
        ("Test 7", 7),
        ("参考答案", 0),
        ("", 0),
    ],
)
def test_the_place_of_a_paper_in_its_title(title, expected):
    assert counted_place(title) == expected


@pytest.mark.parametrize(
    ("runs", "drafts", "expected"),
    [
        ([run_of("ABC")], sections(3), ([], "ABC", {})),
        ([run_of("ABCD")], sections(3), ([(1, 4)], "ABC", {})),
        ([run_of("AB")], [], ([(0, 1), (0, 2)], "", {})),
        ([run_of("AB", 1), run_of("CD", 2)], sections(2, 2), ([], "ABCD", {})),
        ([run_of("AB", 2), run_of("CD", 2)], sections(2, 2), ([], "ABCD", {})),
        ([run_of("AB", 1)], sections(2, 2), ([], "AB--", {})),
        ([run_of("ABC", 2)], sections(2, 3), ([], "--ABC", {})),
        ([run_of("AB", 2)], sections(2, 3), ([], "AB---", {})),
        ([run_of("ABC", 2)], sections(2, 4), ([], "--ABC-", {})),
        ([run_of("ABC", 2)], sections(2, 5), ([(1, 3)], "AB-----", {})),
        ([run_of("ABC", 0)], sections(2, 3), ([], "--ABC", {})),
        ([run_of("A", first=3)], sections(2, 3), ([], "----A", {})),
        ([run_of("AB", first=8)], sections(2, 2), ([(0, 8), (0, 9)], "----", {})),
    ],
)
def test_a_run_of_a_key_goes_to_the_section_whose_numbers_fit_best(runs, drafts, expected):
    assert applied(deepcopy(runs), deepcopy(drafts)) == expected


@pytest.mark.parametrize(
    ("runs", "drafts", "expected"),
    [
        ([run_of("AB", 2, "二")], sections(2, 2, heads="一二"), ([], "--AB", {})),
        ([run_of("AB", 2, "三")], sections(2, 2, heads="一二"), ([], "AB--", {})),
        ([run_of("AB", 2, "一"), run_of("CD", 2, "三")], sections(2, 2, heads="一二"),
         ([(0, 1), (0, 2)], "AB--", {})),
        ([run_of("AB", 2, "一"), run_of("--", 2, "三")], sections(2, 2, heads="一二"),
         ([(0, 1), (0, 2)], "AB--", {})),
        ([run_of("AB", 2, "一")], sections(2, 2, heads="一一"), ([(0, 1), (0, 2)], "----", {})),
        ([run_of("AB", 2, "一"), run_of("CD", 2, "一")], sections(2, 2, heads="一一"), ([], "ABCD", {})),
        ([run_of("AB", 2)], sections(2, 2, options=(False, True)), ([], "--AB", {})),
        ([run_of("--", 2)], sections(2, 2, options=(False, True)), ([], "----", {})),
    ],
)  # fmt: skip
def test_heads_and_options_name_the_section_of_a_run(runs, drafts, expected):
    assert applied(deepcopy(runs), deepcopy(drafts)) == expected


@pytest.mark.parametrize(
    ("titles", "key_titles", "expected"),
    [
        ({}, ("第一套答案", "第二套答案"), "ABCD"),
        ({}, ("第二套答案", "第一套答案"), "CDAB"),
        ({1: 2, 2: 1}, ("第一套答案", "第二套答案"), "CDAB"),
        ({1: 1, 2: 3}, ("第一套答案", "第二套答案"), "AB--"),
        ({}, ("第一套答案", "第三套答案"), "----"),
        ({}, ("第二套答案", "参考答案"), "CD--"),
        ({}, ("参考答案", "答案"), "ABCD"),
    ],
)
def test_heads_that_count_papers_name_the_section(titles, key_titles, expected):
    runs = [run_of(letters, 2, title=title) for letters, title in zip(("AB", "CD"), key_titles, strict=True)]
    assert applied(runs, sections(2, 2), titles)[1] == expected


@pytest.mark.parametrize(
    ("title", "first", "expected"),
    [
        ("答案（11～20题）", 1, "------------"),
        ("答案（11～20题）", 11, "----------AB"),
        ("答案（2～5题）", 1, "AB----------"),
        ("答案（3～5题）", 1, "------------"),
        ("答案（1～10题）", 10, "---------AB-"),
        ("答案（1～10题）", 11, "------------"),
        ("答案（1～11题）", 11, "----------AB"),
    ],
)
def test_a_head_that_names_other_numbers_leaves_a_run_to_nobody(title, first, expected):
    assert applied([run_of("AB", 1, title=title, first=first)], sections(12))[1] == expected


def test_a_row_without_an_answer_for_a_question_tells_none():
    runs = [run_of("ABC", 1, short=dict.fromkeys((1, 2, 3), (4,)))]
    assert applied(deepcopy(runs), sections(4)) == ([], "----", {at: ["key_not_read"] for at in range(3)})
    assert applied(deepcopy(runs), sections(3)) == ([], "ABC", {})
    without = [*sections(3), asked(4, options=False)]
    assert applied(deepcopy(runs), without) == ([], "ABC-", {})


@pytest.mark.parametrize(
    ("letters", "suffixes", "of_parts", "expected"),
    [
        ("AC", "ab", False, ("AC", {})),
        ("ACD", "ab", False, ("--", {0: ["parts_and_answers_differ"], 1: ["parts_and_answers_differ"]})),
        ("AC", "a", False, ("AC", {})),
        ("AC", ["", ""], False, ("ACAC", {})),
        ("AC", ["", ""], True, ("AC", {})),
        ("AC", [""], True, ("-", {0: ["parts_and_answers_differ"]})),
        ("A", [""], True, ("A", {})),
    ],
)
def test_letters_of_a_key_answer_the_parts_of_an_item(letters, suffixes, of_parts, expected):
    run = run_of([letters], 1)
    run.entries[1].of_parts = of_parts
    assert applied([run], [asked(1, suffix=suffix) for suffix in suffixes])[1:] == expected


def test_a_number_that_a_key_answers_twice_waits():
    run = run_of("AB", 1)
    run.repeated = [2]
    assert applied([run], sections(2)) == ([], "AB", {1: ["answers_disagree"]})


@pytest.mark.parametrize(
    ("answer", "letters", "replace", "expected"),
    [
        ("A", "A", False, ("A", {})),
        ("AC", "CA", False, ("CA", {})),
        ("A", "B", False, ("A", {0: ["answers_disagree"]})),
        ("A", "B", True, ("B", {})),
        (None, "B", False, ("B", {})),
        ("A", "-", False, ("A", {})),
    ],
)
def test_a_key_that_differs_from_the_question_waits_or_replaces(answer, letters, replace, expected):
    assert applied([run_of([letters], 1)], [asked(1, answer=answer)], replace=replace)[1:] == expected


def test_an_entry_answers_and_explains():
    told, without, blank = asked(1), asked(2, options=False), asked(3, in_blank=True)
    told.explanation = "有"
    run = run_of("A--B", 1)
    for number, words in ((1, "一"), (2, "二"), (3, "甲")):
        run.entries[number].explanation = words
    drafts = [told, without, blank, asked(4, answer="A")]
    assert applied([run], drafts)[1] == "A-AA"
    assert [(one.explanation, one.answered, one.in_blank, len(one.steps)) for one in drafts] == [
        ("有", True, False, 1),
        ("二", True, False, 1),
        ("甲", True, False, 2),
        (None, True, False, 0),
    ]


def test_a_note_tells_what_earns_the_mark():
    drafts = [asked(1, answer="A"), asked(2, answer="A"), asked(3), asked(4, options=False)]
    notes = corrections("第1题答B、C给分。第2题答A、C给分。第3、4题送分。")
    assert applied([], drafts, corrections=notes)[1] == "BA--"
    assert [(one.accepted, one.comment) for one in drafts] == [
        (["B", "C"], "第1题答B、C给分"),
        (["A", "C"], "第2题答A、C给分"),
        (["A", "B", "C", "D"], "第3、4题送分"),
        (None, None),
    ]


def test_a_note_on_a_number_of_two_sections_waits():
    notes = corrections("第1题送分。")
    assert applied([], sections(2, 2), corrections=notes)[2] == {0: ["note_not_read"], 2: ["note_not_read"]}
    assert applied([], sections(2, 2), corrections=corrections("第2题删除。"))[2] == {
        1: ["note_not_read"],
        3: ["note_not_read"],
    }
    parts = [asked(1, suffix="a"), asked(1, suffix="b")]
    assert applied([], parts, corrections=notes)[2] == {}


def test_a_number_that_refers_to_a_note_waits_for_it():
    runs = [run_of("A-B", 1, noted={2})]
    assert applied(deepcopy(runs), sections(3))[2] == {1: ["note_not_read"]}
    assert applied(deepcopy(runs), sections(3), corrections=corrections("第2题送分。"))[2] == {}
    assert applied(deepcopy(runs), [asked(1), asked(2, options=False), asked(3)])[2] == {}


def entry_of(number, run, letters, *, head="", explanation=None, of_parts=False):
    draft = Draft(number, run, [], Block([head, "说明"] if head else []), entry=True)
    draft.answer, draft.explanation, draft.of_parts = letters, explanation, of_parts
    return draft


def test_entries_among_the_questions_make_a_run_each():
    drafts = [
        entry_of(1, 0, "A"),
        asked(1, 1),
        asked(2, 2),
        entry_of(1, 7, "B", head="二、多选题", explanation="甲", of_parts=True),
        entry_of(None, 7, "C"),
        entry_of(2, 7, None, head="二、多选题"),
        asked(1, 1),
        entry_of(1, 8, "D"),
    ]
    runs = key_of(Outline(), drafts).runs
    assert [(run.after_section, run.head, run.title, run.rule) for run in runs] == [
        (0, "", "", "key_entries"),
        (2, "二", "二、多选题", "key_entries")
        if runs[1].head == "二"
        else (2, "二、多选题", "二、多选题", "key_entries"),
        (2, "", "", "key_entries"),
    ]
    told = [
        [(number, one.letters, one.explanation, one.of_parts) for number, one in run.entries.items()] for run in runs
    ]
    assert told == [[(1, "A", None, False)], [(1, "B", "甲", True), (2, None, None, False)], [(1, "D", None, False)]]


def test_notes_count_in_a_key_or_where_nothing_is_asked():
    outline = Outline(prose=["第3题送分"])
    assert key_of(outline, [asked(3)]).corrections == []
    assert len(key_of(outline, [asked(3, options=False)]).corrections) == 1
    outline.keys = [KeyLine(line_pairs("1.A"))]
    assert len(key_of(outline, [asked(3)]).corrections) == 1


def test_a_line_of_answers_behind_items_of_no_section_is_of_none():
    outline = Outline(items=[NumberedItem(1, 1, 5, [], Block())], keys=[KeyLine(line_pairs("1.A"), item=1)])
    assert [run.after_section for run in key_of(outline, [asked(1)]).runs] == [0]


def test_a_key_answers_no_entry_and_no_question_without_a_number():
    drafts = [asked(None), entry_of(1, 1, None), asked(1)]
    drafts[1].options = [("A", "甲"), ("B", "乙")]
    assert applied([run_of("A", 1)], drafts) == ([], "--A", {})


@pytest.mark.parametrize(
    ("runs", "drafts", "expected"),
    [
        ([run_of("AB", 3, title="第一套答案"), run_of("CD", 3, title="第二套答案")], sections(2, 2, 2), "ABCD--"),
        ([run_of("AB", 3, title="第一套答案"), run_of("CD", 3, title="第四套答案")], sections(2, 2, 2), "------"),
        ([run_of("ABCD", 2)], [asked(1), asked(2), asked(3, 2), asked(4, 2)], "ABCD"),
        ([run_of("AB", 1, "一")], sections(2, 2, heads="一一"), "AB--"),
    ],
)  # fmt: skip
def test_a_run_and_the_sections_that_its_title_or_its_numbers_tell(runs, drafts, expected):
    assert applied(deepcopy(runs), deepcopy(drafts))[1] == expected
