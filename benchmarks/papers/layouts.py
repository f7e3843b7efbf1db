"""Layouts of papers as they are met, one of each kind: what is measured, rendered and held by the tests."""

from __future__ import annotations

from benchmarks.papers.content import sections
from benchmarks.papers.model import Kind, Paper, Style


def _paper(
    style: Style, *kinds: Kind, size: int = 8, options: int = 5, explained: bool = False, seed: int = 1
) -> Paper:
    return Paper(sections(seed, kinds, size, options, explained=explained), style)


LAYOUTS: dict[str, Paper] = {
    "taiwan_one_option_a_line": _paper(
        Style(number="{}.", head="", key="separate_grid", traditional=True, cover=True),
        Kind.A1, Kind.A2, size=20, options=4,
    ),
    "taiwan_four_options_a_line": _paper(
        Style(number="{}.", head="", layout="four", key="separate_grid", traditional=True), Kind.A1, size=40, options=4
    ),
    "taiwan_two_options_a_line": _paper(
        Style(number="{}.", head="", layout="two", key="separate_grid", traditional=True), Kind.A1, size=30, options=4
    ),
    "licensing_all_types": _paper(
        Style(number="{}．", label="{}．", key="list", running=True, cover=True), Kind.A1, Kind.A2, Kind.A3, Kind.B1
    ),
    "licensing_grid_key": _paper(
        Style(number="{}．", label="{}．", key="grid"), Kind.A1, Kind.A2, Kind.A3, Kind.B1, Kind.X
    ),
    "western_medicine_x_types": _paper(
        Style(number="{}. ", label="{}. ", layout="two", key="range"), Kind.A1, Kind.B1, Kind.X, options=4
    ),
    "western_medicine_in_columns": _paper(
        Style(number="{}. ", label="{}. ", layout="four", key="vertical"), Kind.A1, Kind.X, options=4
    ),
    "nurse_answers_inline": _paper(
        Style(number="{}、", label="{}、", key="inline", mark="【答案】{}", explain="【解析】{}"),
        Kind.A1, Kind.A2, Kind.A3, explained=True,
    ),
    "question_bank_numbers_alone": _paper(
        Style(number="{}.", number_alone=True, key="inline", mark="正确答案：{}", explain="答案解析：{}"),
        Kind.A1, Kind.X,
        explained=True,
    ),
    "question_bank_titles": _paper(
        Style(number="第{}题 ", key="inline", mark="正确答案 {}", explain="试题分析：{}"), Kind.A1, Kind.X,
        explained=True,
    ),
    "restarting_by_section": _paper(
        Style(number="{}. ", restart=True, key="list"), Kind.A1, Kind.A2, Kind.X
    ),
    "key_after_every_section": _paper(
        Style(number="{}. ", restart=True, key="by_section"), Kind.A1, Kind.A2, Kind.X
    ),
    "entries_at_the_end": _paper(
        Style(number="{}. ", key="entries"), Kind.A1, Kind.A3, Kind.B1, explained=True
    ),
    "explanations_at_the_end": _paper(
        Style(number="{}、", restart=True, key="explained_at_end"), Kind.A1, Kind.A2, explained=True
    ),
    "answers_in_blanks": _paper(Style(number="{}. ", key="blank", layout="two"), Kind.A1, Kind.X, options=4),
    "answers_before_numbers": _paper(Style(number="{}. ", key="before", layout="inline"), Kind.A1, Kind.X, options=4),
    "answers_by_text": _paper(Style(number="{}. ", key="text"), Kind.A1, explained=True),
    "computing_four_options": _paper(
        Style(number="（{}）", label="{}. ", layout="four", head="", key="separate_list"), Kind.A1, size=30, options=4
    ),
    "bracketed_numbers": _paper(Style(number="【{}】", label="（{}）", key="list"), Kind.A1, Kind.X),
    "circled_labels": _paper(Style(number="{}. ", label="{c}", layout="double", key="list"), Kind.A1, Kind.X),
    "small_labels": _paper(Style(number="{}. ", label="{l}. ", key="inline"), Kind.A1, options=4),
    "eleven_options": _paper(Style(number="{}. ", key="list"), Kind.X, Kind.B1, options=11),
    "old_types_c_and_k": _paper(Style(number="{}. ", key="list"), Kind.A1, Kind.C, Kind.K, Kind.X),
    "mixed_with_items_set_aside": _paper(
        Style(number="{}. ", key="inline"), Kind.A1, Kind.TRUE_FALSE, Kind.FILL_IN, Kind.SHORT_ANSWER
    ),
    "excerpt_from_a_high_number": _paper(Style(number="{}. ", start=117, head="", key="inline"), Kind.A1, size=2),
    "narrow_pages_with_heads_and_feet": _paper(
        Style(number="{}. ", key="entries", width=22, page_lines=7, running=True, cover=True), Kind.A1, Kind.A2,
        explained=True,
    ),
    "separate_vertical_key": _paper(Style(number="{}. ", key="separate_vertical"), Kind.A1, Kind.A2, Kind.X, size=12),
    "taiwan_pharmacist_two_bracketed_options_a_line": _paper(
        Style(
            number="{}.", label="({})", head="", layout="two", key="separate_grid", traditional=True, cover=True,
            running=True,
        ),
        Kind.A1, size=50, options=4,
    ),
    "licensing_bracketed_heads_ranges_at_the_end": _paper(
        Style(number="{}. ", label="{}. ", head="【{name}】", key="range"), Kind.A1, Kind.A2, Kind.A3, Kind.B1,
        size=12,
    ),
    "nurse_several_letters_restarting": _paper(
        Style(
            number="{}、", label="{}、", head="{numeral}、{name}", restart=True, key="inline",
            mark="【答案】{}", explain="【解析】{}",
        ),
        Kind.X, Kind.A1, explained=True, size=12,
    ),
}  # fmt: skip
