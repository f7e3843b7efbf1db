"""Patterns kept as data: each compiles, each is used, and a name that is none is an error."""

import re
from importlib.util import find_spec
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from build_dataset.pipeline.clean.params import PATTERNS
from build_dataset.pipeline.patterns import Glance, Patterns, is_latin
from build_dataset.pipeline.runtime.fingerprint import _module
from build_dataset.schemas.data import shipped_toml

AREAS = ("build_dataset.pipeline.parse", "build_dataset.pipeline.ocr", "build_dataset.pipeline.ocr.readers")
TABLES = {
    f"{area}.{name}": rows
    for area in AREAS
    for name, rows in shipped_toml(area, "patterns.toml").items()
    if name != "fragments"
}


@pytest.mark.parametrize("module", sorted(TABLES))
def test_every_pattern_of_a_module_compiles_and_is_used(module):
    patterns, rows = Patterns(module), TABLES[module]
    source = Path(find_spec(module).origin).read_text(encoding="utf-8")
    for name, row in rows.items():
        if name == "fragments":
            used = [str(rows)] * len(row)
            assert all(f"@{part}@" in text or part in source for part, text in zip(row, used, strict=True))
        elif isinstance(row, dict):
            assert patterns.table(name)
        elif isinstance(row, list) and isinstance(row[0], dict):
            assert all(re.compile(one["pattern"]) for one in patterns.rows(name))
        else:
            assert getattr(patterns, name).pattern
        assert name == "fragments" or f"_P.{name}" in source or f'"{name}"' in source, f"{module}.{name} has no user"


FITTED = [
    *((PATTERNS, f"needs_{kind}") for kind in ("figure", "table")),
    *((Patterns("build_dataset.pipeline.parse.passages"), name) for name in ("text_outside", "person_outside")),
    (Patterns("build_dataset.pipeline.claims.mentions"), "ordinal"),
    (Patterns("build_dataset.pipeline.claims.explanations"), "asks_for_wrong"),
]
WORDS = re.findall(
    r"[a-zA-Z]+|\W",
    "Shown in the image below, an ECG is shown: labeled A (a.png) ![x]( fig. 2 marked with an arrow; this x-ray finds "
    "the table 3 shows; which of the following structure is NOT correct except? Diagnosis of the patient above “–” "
    "according to the passage 5° of this case the third option\n",
)


@given(
    st.lists(st.sampled_from([*WORDS, " the ", " is ", " in the ", " image ", "①", "如图"]), max_size=16).map("".join)
)
def test_of_a_text_in_latin_letters_the_latin_part_of_a_pattern_finds_the_same(text):
    for patterns, name in FITTED:
        (glance := patterns.glance(name, f"{name}_latin")).look([text, "。" * 3000])
        found, whole = glance.search(text, fitting=True), getattr(patterns, name).search(text)
        assert (found and found.span()) == (whole and whole.span())


ROWS = [(module, *pair) for module, rows in TABLES.items() for pair in rows.items() if not isinstance(pair[1], dict)]
NAMED = [(module, name) for module, name, row in ROWS if isinstance(row[0], str)]


@settings(max_examples=300, suppress_health_check=list(HealthCheck), deadline=None)
@given(named=st.sampled_from(NAMED), data=st.data())
def test_a_glance_passes_over_no_text_that_has_its_pattern(named, data):
    patterns, name = Patterns(named[0]), named[1]
    form, glance = getattr(patterns, name), patterns.glance(name)
    text = data.draw(st.from_regex(form))
    shown = [text, text.swapcase(), f"甲–{text}", f"{'-' * 200}\n{text}", f"{text}\n乙"]
    glance.look([*shown, "。" * 3000])
    found = [[match and match.span() for match in map(search, shown)] for search in (glance.search, form.search)]
    assert found[0] == found[1]


@pytest.mark.parametrize(("form", "text"), [("(?i)i", "ı"), (r"\w", "²"), (r"\s", "\x1c"), ("a$", "a\n")])
def test_a_glance_reads_a_form_as_a_search_does_and_knows_the_texts_without(form, text):
    (glance := Glance(lambda: [re.compile(form)])).look(["-" * 3000, text])
    assert [*glance.starts.values()] == [None, 0]


@pytest.mark.parametrize(("text", "latin"), [("an ECG – 38°C “x” ≥ 5", True), ("一", False), ("①", False), ("", True)])
def test_chinese_and_circled_signs_are_not_latin(text, latin):
    assert is_latin(text) is latin


def test_a_pattern_that_is_not_there_is_an_error():
    with pytest.raises(AttributeError):
        _ = Patterns("build_dataset.pipeline.parse.heads").not_there


@pytest.mark.parametrize("area", AREAS)
def test_a_changed_pattern_makes_the_stages_that_use_it_stale(area):
    modules = {module for module in TABLES if module.rpartition(".")[0] == area}
    assert {area} == {package for module in modules for package in _module(module).opens}
