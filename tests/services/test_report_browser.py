"""The report in a real browser: nothing goes wrong in it, it asks nothing of anybody, papers do nothing in it."""

import json
from pathlib import Path

import pytest

SIZES = {"desktop": (1280, 900), "phone": (390, 800)}
COUNTED = """[...document.querySelectorAll('[data-stage] [data-count]')].map(e =>
  [e.closest('[data-stage]').dataset.stage, e.dataset.count, Number(e.textContent.replaceAll(',', ''))])"""
REASONS = """[...document.querySelectorAll('[data-stage] [data-reason]')].map(e =>
  [e.closest('[data-stage]').dataset.stage, e.dataset.reason,
   Number(e.querySelector('b').textContent.replaceAll(',', ''))])"""
SPLITS = """[...document.querySelectorAll('[data-split]')].map(e =>
  [e.dataset.split, Number(e.textContent.replaceAll(',', ''))])"""
CONTRAST = """(() => {
  const light = c => { const [r, g, b] = c.match(/[\\d.]+/g).map(v => { v /= 255;
    return v <= .04045 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4 }); return .2126 * r + .7152 * g + .0722 * b };
  const paper = light(getComputedStyle(document.body).backgroundColor);
  return ['p', 'h1', '.soft', '.lead', 'th', '[lang=zh]'].map(name => {
    const ink = light(getComputedStyle(document.querySelector(name)).color);
    return (Math.max(ink, paper) + .05) / (Math.min(ink, paper) + .05) }) })()"""


@pytest.fixture
def sample(page, sample_build):
    page.visit(sample_build / "report" / "index.html")
    return page


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("size", SIZES)
def test_it_opens_without_an_error_or_a_request_and_fits_its_window(page, sample_build, tmp_path, size, dark):
    path = sample_build / "report" / "index.html"
    page.visit(path, width=SIZES[size][0], height=SIZES[size][1], dark=dark)
    assert page.addresses == [path.as_uri()]
    assert page.errors == []
    assert page.evaluate("document.documentElement.scrollWidth") <= SIZES[size][0]
    assert min(page.evaluate(CONTRAST)) >= 4.5, "WCAG AA"
    page.screenshot(tmp_path / "page.png")
    assert (tmp_path / "page.png").stat().st_size > 10_000


def test_dark_and_light_are_two_looks(page, sample_build):
    papers = set()
    for dark in (False, True):
        page.visit(sample_build / "report" / "index.html", dark=dark)
        papers.add(page.evaluate("getComputedStyle(document.body).backgroundColor"))
    assert len(papers) == 2


def test_every_number_of_the_funnel_equals_the_manifests(sample, sample_build):
    counted = sample.evaluate(COUNTED)
    assert len(counted) > 20
    for stage, outcome, count in counted:
        assert count == said(sample_build, stage)["counts"][outcome], (stage, outcome)
    reasons = {(stage, reason): count for stage, reason, count in sample.evaluate(REASONS)}
    expected = {
        (path.parent.name, f"{outcome}/{reason}"): count
        for path in sample_build.glob("*/manifest.json")
        for outcome, found in json.loads(path.read_text())["reasons"].items()
        for reason, count in found.items()
    }
    assert reasons == expected
    for split, count in sample.evaluate(SPLITS):
        assert count == said(sample_build, "export")["outputs"][f"{split}.parquet"]["rows"]


def test_every_bar_adds_up_to_what_came_in(sample, sample_build):
    sums: dict[str, int] = {}
    for stage, outcome, count in sample.evaluate(COUNTED):
        sums[stage] = sums.get(stage, 0) + (-count if outcome == "in" else count)
    assert set(sums.values()) == {0}


def test_links_inside_the_page_lead_to_its_sections(sample):
    broken = "[...document.querySelectorAll('a[href^=\"#\"]')].filter(a => !document.querySelector(a.hash)).length"
    assert sample.evaluate(broken) == 0
    assert sample.evaluate("document.querySelectorAll('nav a').length") > 8


SEEN = "[...document.querySelectorAll('article')].filter(card => card.offsetParent).length"


def test_the_page_of_answers_is_searched_and_filtered_without_an_error(page, sample_build):
    page.visit(sample_build / "report" / "answers.html", width=390, height=800)
    everything = page.evaluate(SEEN)
    wrong = "document.querySelectorAll('article[data-kind=all-wrong]').length"
    assert 0 < page.evaluate(wrong) <= everything
    page.evaluate("document.querySelector('button[data-kind=all-wrong]').click()")
    assert page.evaluate(SEEN) == page.evaluate(wrong)
    page.evaluate("document.querySelector('button[data-kind=\"\"]').click()")
    name = page.evaluate("document.querySelector('article code').textContent")
    page.evaluate(f"find.value = {json.dumps(name.upper())}; find.dispatchEvent(new Event('input'))")
    assert page.evaluate(SEEN) == 1
    assert page.evaluate("document.getElementById('count').textContent") == "1 shown 条"
    assert page.errors == []
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_paper_is_white_whatever_the_screen_is(page, sample_build):
    page.visit(sample_build / "report" / "index.html", dark=True)
    paper = "getComputedStyle(document.body).backgroundColor"
    assert page.evaluate(paper) != "rgb(255, 255, 255)"
    page.call("Emulation.setEmulatedMedia", media="print")
    assert page.evaluate(paper) == "rgb(255, 255, 255)"
    page.call("Emulation.setEmulatedMedia", media="")


HOSTILE = (
    "<script>document.title = 'run'</script>",
    "<img src=x onerror=\"document.title = 'run'\">",
    '"><svg onload=alert(1)>',
    "'; document.title = 'run'; '",
    "</style><style>body { display: none }</style>",
    "\u202e倒着写的题干\u202d",
    "العربية سؤال طويل",
    "长" * 20_000,
    "a" * 5_000,
    "{{ 7 * 7 }} {% raw %}",
    "https://example.org/x.png",
)


def test_hostile_stems_are_inert(page, tmp_path):
    """A dataset whose questions, options and explanations attack the page, built by the whole pipeline."""
    from build_dataset.pipeline.catalogue import STAGES
    from build_dataset.pipeline.config import load
    from build_dataset.pipeline.runtime.runner import Runner

    (tmp_path / "raw").mkdir()
    rows = [
        {
            "Question": f"{text} 第{number}问，{twin}正确的是",
            "Options": "\n".join(f"{label} {text[:300]}{label}{number}" for label in "ABCDE"),
            "Answer": "AB"[number % 2],
            "Explanation": text,
        }
        for number, text in enumerate(HOSTILE)
        for twin in ("", "", "不")
    ]
    lines = "\n".join(json.dumps(row, ensure_ascii=False) for row in rows)
    (tmp_path / "raw" / "<b>x.jsonl").write_text(lines, encoding="utf-8")
    (tmp_path / "dataset.toml").write_text('[dataset]\nname = "hostile"\ntitle = "<script>alert(1)</script>"\n')
    runner = Runner(load(tmp_path / "dataset.toml", {}))
    runner.run([stage.name for stage in STAGES])
    path = runner.build / "report" / "index.html"
    page.visit(path)
    assert page.evaluate("document.title") == "<script>alert(1)</script> · report"
    assert page.addresses == [path.as_uri()]
    assert page.errors == []
    assert page.evaluate("document.querySelectorAll('img[src=x], iframe, [onerror], [onload]').length") == 0
    assert page.evaluate("document.querySelectorAll('script').length") == 1, "the search"
    assert page.evaluate("document.querySelectorAll('style:not(svg style)').length") == 1
    assert page.evaluate("getComputedStyle(document.body).display") == "block"
    assert page.evaluate("document.documentElement.scrollWidth") <= 1280
    assert path.stat().st_size < 1_000_000


def said(build: Path, stage: str) -> dict:
    return json.loads((build / stage / "manifest.json").read_text())


def test_the_report_is_searched_and_filtered(sample):
    seen = "[...document.querySelectorAll('.item')].filter(item => item.offsetParent).length"
    sections = "[...document.querySelectorAll('section')].filter(one => !one.hidden).map(one => one.id)"
    everything = sample.evaluate(sections)
    sample.evaluate("document.querySelector('button[data-kind=waiting]').click()")
    assert sample.evaluate(sections) == ["waiting"]
    sample.evaluate("document.querySelector('button[data-kind=\"\"]').click()")
    sample.evaluate("find.value = 'NO_ANSWER'; find.dispatchEvent(new Event('input'))")
    assert sample.evaluate(sections) == ["rejected", "waiting"]
    assert sample.evaluate(seen) == 2
    sample.evaluate("find.value = ''; find.dispatchEvent(new Event('input'))")
    assert sample.evaluate(sections) == everything
    assert sample.errors == []
