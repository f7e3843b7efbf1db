"""A draw of the attacks in ``benchmarks/attack``: damaged files and arguments end in lines, never in a traceback."""

import json
import os
import random
import re
import shutil
from xml.etree import ElementTree

import lxml.html
import pytest

from benchmarks.attack import fuzz
from build_dataset.pipeline.config import load
from build_dataset.schemas.taxonomy import use_label_set


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    return fuzz.build(tmp_path_factory.mktemp("attack") / "built", last="dedup")


@pytest.fixture
def home(built, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    shutil.copytree(built, tmp_path / "case")
    monkeypatch.setattr("sys.argv", [])
    os.chdir(tmp_path / "case")
    return tmp_path / "case"


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("kind", fuzz.KINDS)
def test_damage_ends_in_a_documented_exit_code(home, kind, seed):
    work, _ = fuzz.KINDS[kind]
    code, told = work(random.Random(f"test {kind}{seed}"), home)
    assert code in fuzz.ALLOWED, told
    assert "Traceback" not in told


HOSTILE = (
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "</Choices><Choice value='x'/>&amp;&lt;",
    r"\input{/etc/passwd} \write18{id} 50% & $x_1^2$ #1 ~",
    "<svg/onload=alert(1)>]]><!--",
    "=HYPERLINK(1)|{{ 7*7 }}{% raw %}[red]",
)
"""One text each for HTML, attributes, XML, LaTeX, SVG, and spreadsheets, templates and terminals."""


@pytest.fixture(scope="module")
def injected(tmp_path_factory):
    """A dataset whose every text, file name, title and label is hostile, built and inspected."""
    home = tmp_path_factory.mktemp("injected")
    (home / "raw").mkdir()
    rows = [
        {"question": f"{n} {text}", "answer": "AB"[n % 2], "explanation": text, "comment": text,
         "options": {"A": f"{text} {n}", "B": f"乙{n}", "C": "丙", "D": "丁"}}
        for n, text in enumerate(HOSTILE * 4)
    ]  # fmt: skip
    (home / "raw" / "<img src=x onerror=alert(1)>.json").write_text(json.dumps(rows, ensure_ascii=False))
    lines = [f"{n}. {text}\nA. {text}\nB. 乙{n}\nC. 丙\nD. 丁\n答案：A" for n, text in enumerate(HOSTILE, 1)]
    (home / "raw" / "paper.txt").write_text("\n".join(lines), encoding="utf-8")
    label = [{"zh": text, "en": text, "words": ["乙"]} for text in HOSTILE]
    quoted = json.dumps(label, ensure_ascii=False).replace('": ', '" = ')
    dimension = f'name = "area"\nzh = {json.dumps(HOSTILE[1])}\nen = {json.dumps(HOSTILE[2])}\nlabels = {quoted}\n'
    (home / "labels.toml").write_text(f"subject = {json.dumps(HOSTILE[0])}\n[[dimensions]]\n{dimension}")
    title = json.dumps(HOSTILE[0])
    config = f'title = {title}\ndescription = {title}\nlabels = "labels.toml"\n[executor]\nworkers = 1\n'
    (home / "dataset.toml").write_text(f'[dataset]\nname = "x"\n{config}')
    os.chdir(home)
    assert fuzz.command("run")[0] == 0
    assert fuzz.command("inspect", "paper.txt")[0] == 0
    return home / "build"


@pytest.mark.slow
def test_no_text_of_a_paper_becomes_an_element_or_attribute_of_a_page(injected):
    pages = [*injected.rglob("*.html")]
    assert len(pages) > 1
    for page in pages:
        tree = lxml.html.fromstring(page.read_bytes())
        assert not tree.xpath("//*[contains(text(), 'alert(1)')][self::script]"), page
        assert not tree.xpath("//img[@src='x'] | //@onerror | //@onload"), page
        assert "49" not in {text.strip() for text in tree.itertext()}, "no template ran"


def test_pictures_are_well_formed_and_hold_no_script(injected):
    pictures = [*injected.rglob("*.svg")]
    for picture in pictures:
        names = {element.tag.rpartition("}")[2] for element in ElementTree.parse(picture).iter()}
        assert not names & {"script", "foreignObject"}
    assert pictures or "<svg" in (injected / "report" / "index.html").read_text()


def test_latex_of_results_runs_no_command_of_a_paper(injected):
    texts = [path.read_text() for path in injected.rglob("*.tex")]
    assert texts
    for text in texts:
        assert not re.search(r"\\(input|write18)\b(?!backslash)", text)


def test_the_experts_screen_is_one_document_with_the_labels_as_values(injected):
    from build_dataset.annotation.label_studio.screen import review_config

    load(injected.parent / "dataset.toml")
    try:
        tree = ElementTree.fromstring(review_config())
    finally:
        use_label_set(None)
    assert set(HOSTILE) <= {choice.get("value") for choice in tree.iter("Choice")}
