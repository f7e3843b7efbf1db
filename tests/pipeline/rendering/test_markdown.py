import pytest
import yaml
from hypothesis import example, given
from hypothesis import strategies as st

from pipeline.rendering.markdown import code, scalar, text


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
        ("[x](y) *z* `c`", r"\[x\](y) \*z\* \`c\`"),
    ],
)
def test_text_is_shown_as_it_is(given, shown):
    assert text(given) == shown


def test_code_holds_any_back_quotes():
    assert code("a`b") == "``a`b``"
    assert code("`a`") == "`` `a` ``"
    assert code("a|b") == "`a\\|b`"
