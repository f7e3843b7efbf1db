"""Pages escape what papers say and ask nothing of the network."""

import pytest
from jinja2 import UndefinedError

from build_dataset.pipeline.rendering import markup


@pytest.fixture
def template(tmp_path, monkeypatch):
    package = tmp_path / "shown"
    (package / "templates").mkdir(parents=True)
    (package / "__init__.py").write_text("")
    (package / "templates" / "one.html").write_text(
        '{% extends "page.html" %}{% block title %}{{ stem }}{% endblock %}{% block body %}{{ stem }}{% endblock %}'
    )
    monkeypatch.syspath_prepend(tmp_path)
    return "shown:one.html"


def test_text_from_papers_is_escaped(template):
    page = markup.html_page(template, stem="<script>alert(1)</script>").decode()
    assert "<script>alert" not in page
    assert page.count("&lt;script&gt;alert(1)&lt;/script&gt;") == 2


def test_characters_that_hide_or_turn_text_are_named(template):
    page = markup.html_page(template, stem="\x00甲\u202e乙\u200b丙\x1b[31m\ud800\n\t。").decode()
    assert page.count("␀甲‹U+202E›乙‹U+200B›丙␛[31m?\n\t。") == 2


def test_a_page_may_load_nothing_from_elsewhere(template):
    assert "default-src &#39;none&#39;; img-src data:" in markup.html_page(template, stem="x").decode()


def test_a_value_that_is_missing_is_an_error_and_no_gap(template):
    with pytest.raises(UndefinedError):
        markup.html_page(template)


def test_hidden_characters_are_shown_by_their_names(template):
    page = markup.html_page(template, stem="\x01\x1f\x7f\x80\x9f\u2060\ufeff").decode()
    assert page.count("␁␟\ufffd\ufffd\ufffd‹U+2060›‹U+FEFF›") == 2


def test_a_drawing_takes_the_colour_of_the_page_and_brings_no_comment():
    drawn = b'<?xml version="1.0"?><svg><!-- a name --><path fill="#3a3f47"/></svg>'
    assert markup.inline(drawn) == '<svg><path fill="currentColor"/></svg>'
    assert markup.data_uri(b"abc", "image/png") == "data:image/png;base64,YWJj"
