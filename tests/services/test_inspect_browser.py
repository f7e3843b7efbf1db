"""The page of a paper in a real browser: boxes and questions find each other, and it asks nothing of anybody."""

from pathlib import Path

import pytest

from build_dataset.pipeline.inspect.page import inspect_page

ROOT = Path(__file__).parents[2]

PRESS = "document.dispatchEvent(new KeyboardEvent('keydown', {{key: '{}'}}))"
CHOSEN = "[...document.querySelectorAll('.card.on')].map(card => card.id)"
BOXES = "document.querySelectorAll('.mark.on').length"


@pytest.fixture(scope="module")
def path(sample_build, tmp_path_factory):
    _, content = inspect_page(sample_build, ROOT / "raw" / "sample" / "papers", "internal-medicine.pdf")
    made = tmp_path_factory.mktemp("inspect") / "paper.html"
    made.write_bytes(content)
    return made


@pytest.fixture
def opened(page, path):
    page.visit(path, width=1440)
    return page


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_it_opens_without_an_error_or_a_request_and_fits_its_window(page, path, dark):
    page.visit(path, width=1440, dark=dark)
    assert page.addresses == [path.as_uri()]
    assert page.errors == []
    assert page.evaluate("document.documentElement.scrollWidth") <= 1440
    assert page.evaluate("[...document.images].every(image => image.naturalWidth > 500)")


def test_keys_walk_through_the_questions_and_show_their_boxes(opened):
    seen = []
    for key in "jjk":
        opened.evaluate(PRESS.format(key))
        (chosen,) = opened.evaluate(CHOSEN)
        seen.append(chosen)
        assert opened.evaluate(BOXES) >= 1
    assert seen == ["card-0", "card-1", "card-0"]


def test_the_chosen_box_is_in_sight(opened):
    for _ in range(12):
        opened.evaluate(PRESS.format("j"))
    assert opened.evaluate(
        "(() => { const box = document.querySelector('.mark.on').getBoundingClientRect();"
        " return box.top < innerHeight && box.bottom > 0 })()"
    )


def test_a_click_on_a_box_chooses_its_question(opened):
    opened.evaluate("document.querySelector('.mark[data-cards=\"3\"]').click()")
    assert opened.evaluate(CHOSEN) == ["card-3"]


def test_only_uncertain_ones_are_left_when_asked_for(opened):
    opened.evaluate(PRESS.format("u"))
    fates = opened.evaluate("[...document.querySelectorAll('.card:not(.hidden)')].map(card => card.dataset.fate)")
    assert set(fates) <= {"waiting", "unused", "doubtful"}
    opened.evaluate(PRESS.format("u"))
    assert opened.evaluate("document.querySelectorAll('.card.hidden').length") == 0


def test_a_link_to_a_question_leads_to_it(opened):
    opened.evaluate("location.hash = encodeURIComponent(document.querySelectorAll('.card')[5].dataset.name)")
    opened.evaluate("dispatchEvent(new HashChangeEvent('hashchange'))")  # the browser's own comes later
    assert opened.evaluate(CHOSEN) == ["card-5"]


def test_on_a_phone_pages_stand_above_questions_and_buttons_walk_through_them(page, path):
    page.visit(path, width=390, height=844)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    top, bottom = (
        page.evaluate(f"document.getElementById('{name}').getBoundingClientRect().{side}")
        for name, side in (("cards", "top"), ("sheets", "bottom"))
    )
    assert top >= bottom
    page.evaluate("document.querySelector('[data-step=\"1\"]').click()")
    assert page.evaluate(CHOSEN) == ["card-0"]
    assert page.errors == []
