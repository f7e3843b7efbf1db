import pytest
import yaml
from hypothesis import example, given, strategies as st

from build_dataset.pipeline.rendering.markup import code, environment, number, percent, scalar, table, text


@given(st.text(st.characters(exclude_categories=["Cs"])))
@example("\ud83e 🩺 \x7f\x85\u2028\ufeff")
def test_yaml_scalars_read_back_equal(value):
    value = value.encode("utf-8", "ignore").decode()
    assert yaml.safe_load(f"key: {scalar(value)}") == {"key": value}


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ("a|b", r"a\|b"),
        ("# 1", r"\# 1"),
        ("1. x", r"1\. x"),
        ("2026) x", r"2026\) x"),
        ("3.5 mg", r"3\.5 mg"),
        ("- x", r"\- x"),
        ("2-3 (b)", "2-3 (b)"),
        ("<b>&", "&lt;b&gt;&amp;"),
        ("a\n\nb", "a b"),
        ("\"x\" 'y'", "\"x\" 'y'"),
        ("[x](y) *z* `c`", r"\[x\](y) \*z\* \`c\`"),
    ],
)
def test_text_is_shown_as_it_is(given, shown):
    assert text(given) == shown


def test_code_holds_any_back_quotes():
    assert code("a`b") == "``a`b``"
    assert code("`a`") == "`` `a` ``"
    assert code("a|b") == "`a\\|b`"


def test_code_of_several_back_quotes_has_a_longer_fence():
    assert code("a``b`c") == "```a``b`c```"
    assert code("a`") == "`` a` ``"


def test_numbers_and_shares_are_rounded():
    assert (number(1234.56), number(0.5, 2), number(None)) == ("1,235", "0.50", "–")
    assert (percent(1, 3), percent(1, 3, 0), percent(1, 0)) == ("33.3 %", "33 %", "–")


def test_a_table_aligns_numbers_to_the_right():
    assert table(["a", "b"], [["x", 1]]) == "| a | b |\n|---|---:|\n| x | 1 |"
    assert table(["a", "b"], [], left=2).splitlines()[1] == "|---|---|"


def test_yaml_keeps_chinese_and_escapes_what_readers_trip_over():
    assert scalar("甲\x85\ufeff") == '"甲\\u0085\\ufeff"'


@pytest.mark.parametrize(
    ("template", "shown"),
    [
        ("a\n  {% if 1 %}\n b\n  {% endif %}\nc", "a\n b\nc"),
        ("{% if 1 %}\n\n{% endif %}x", "\nx"),
        ("{{ 1234.5|number }} {{ 1|percent(8) }} {{ 2|counted('question') }}", "1,234 12.5 % 2 questions"),
    ],
)
def test_lines_of_tags_leave_no_lines(template: str, shown: str) -> None:
    assert environment("build_dataset.pipeline.rendering").from_string(template).render() == shown
