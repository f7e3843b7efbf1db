"""Banks whose headers say nothing are read where their cells leave no doubt, else stopped; never read wrongly."""

from random import Random

import pytest
from hypothesis import given, settings, strategies as st

from build_dataset.pipeline.parse.columns import Unclear
from build_dataset.pipeline.parse.rows import RowError
from tests.pipeline.parse.test_mapping import parse

NAMES = ["zq", "f1", "wert", "列", "bb7", "uu", "mnt", "ox2", "jj", "nm", "dato", "yy1", "rx", "kq"]
DRUGS = ["青霉素", "红霉素片", "氯霉素", "四环素", "阿司匹林", "地高辛片", "硝酸甘油", "肝素", "胰岛素泵", "维生素B"]
ENDS = ["首选的药物是", "应当使用（ ）", "治疗用药为", "which drug is best?", "最常用的是"]
KEYS = {
    "letter": lambda texts, right: "ABCDE"[right],
    "small letter": lambda texts, right: "abcde"[right],
    "text": lambda texts, right: texts[right],
    "from 0": lambda texts, right: right,
    "from 1": lambda texts, right: right + 1,
}
SHAPES = {
    "columns": lambda texts: texts,
    "list": lambda texts: [texts],
    "object": lambda texts: [dict(zip("ABCDE", texts, strict=False))],
    "lines": lambda texts: ["\n".join(f"{label}. {text}" for label, text in zip("ABCDE", texts, strict=False))],
}
FOREIGN = {
    "level": lambda draw, at, key: draw.randint(1, 4),
    "group": lambda draw, at, key: draw.choice("ABCD"),
    "chapter": lambda draw, at, key: f"第{at // 8 + 1}章 总论",
    "source": lambda draw, at, key: f"教材第{at}页",
    "model": lambda draw, at, key: key if draw.random() < 0.7 else draw.choice("ABCD"),
    "explanation": lambda draw, at, key: f"本题考查第{at}例的药物。{key}项正确，其余各项均不是首选，见教材。",
    "author": lambda draw, at, key: draw.choice(["张伟", "李娜", "王芳"]),
    "date": lambda draw, at, key: f"2021-03-{at % 28 + 1:02}",
}


def bank(draw, count, size, shape, kind, foreign, *, in_order):
    """Rows with nameless columns in any order, and their questions by stem."""
    names, rows, truth = draw.sample(NAMES, len(NAMES)), [], {}
    count_of_parts = range(len(foreign) + 3)
    places = [*count_of_parts] if in_order else draw.sample(count_of_parts, len(count_of_parts))
    for at in range(count):
        texts = [f"{drug}{at}号" for drug in draw.sample(DRUGS, size)]
        right, stem = draw.randrange(size), f"第{at * 7}例患者{draw.choice(ENDS)}"
        others = [[FOREIGN[name](draw, at, "ABCDE"[right])] for name in foreign]
        parts = [[stem], SHAPES[shape](texts), [KEYS[kind](texts, right)], *others]
        cells = [cell for place in places for cell in parts[place]]
        rows.append(dict(zip(names, cells, strict=False)))
        truth[stem] = (texts, "ABCDE"[right])
    return rows, truth


def kept(rows):
    table = parse(rows)
    read = [] if isinstance(table.columns, Unclear) else [one for _, one in table.rows if not isinstance(one, RowError)]
    return {
        one.stem: ([it.text for it in one.options], one.answer[0]) for one, doubts in read if one.answer and not doubts
    }


@pytest.mark.parametrize(
    ("shape", "kind"), [("columns", "letter"), ("object", "letter"), ("lines", "letter"), ("lines", "text")]
)
def test_stem_options_and_key_are_read_where_nothing_else_may_be_one(shape, kind):
    rows, truth = bank(Random(7), 40, 4, shape, kind, ["chapter"], in_order=True)
    assert kept(rows) == truth


def test_a_column_of_stems_with_their_options_is_the_stem():
    rows, truth = bank(Random(7), 40, 4, "lines", "letter", ["source", "author"], in_order=True)
    joined = [{"xq": f"{row['one']}\n{row['two']}", **dict(list(row.items())[2:])} for row in
              [dict(zip(["one", "two", *NAMES], row.values(), strict=False)) for row in rows]]  # fmt: skip
    assert kept(joined) == truth


@pytest.mark.parametrize(("kind", "foreign"), [("from 0", ["model"]), ("from 1", ["model", "level"])])
def test_a_column_of_a_models_answers_beside_the_key_stops_the_table(kind, foreign):
    rows, _ = bank(Random(7), 40, 4, "columns", kind, foreign, in_order=True)
    assert "two columns may be the key" in parse(rows).columns.detail


def test_a_long_column_that_does_not_ask_is_no_stem():
    rows, _ = bank(Random(1703), 34, 4, "object", "letter", ["explanation"], in_order=False)
    assert "may be no questions" in parse(rows).columns.detail


@settings(deadline=None, max_examples=150)
@given(
    st.tuples(st.integers(0, 9999), st.integers(2, 40), st.integers(3, 5)),
    st.sampled_from([*SHAPES]),
    st.sampled_from([*KEYS]),
    st.lists(st.sampled_from([*FOREIGN]), unique=True, max_size=3),
    st.booleans(),
)
def test_what_cells_leave_open_is_never_read_wrongly(sizes, shape, kind, foreign, in_order):
    seed, count, size = sizes
    rows, truth = bank(Random(seed), count, size, shape, kind, foreign, in_order=in_order)
    assert kept(rows).items() <= truth.items()
