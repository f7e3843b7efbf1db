import re

import pytest

from tests.conftest import ROOT
from tests.docs.test_tables import made_by


@pytest.mark.parametrize("name", ["README.md", "README.zh-CN.md"])
def test_the_counts_and_rows_that_a_readme_shows_are_those_of_the_sample(sample_build, name):
    text = (ROOT / name).read_text(encoding="utf-8")
    assert text == made_by("make_readme").filled(text, sample_build), "run `make docs`"


@pytest.mark.parametrize("page", [*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md"), ROOT / "raw" / "README.md"])
def test_links_between_pages_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)#]+)[^)]*\)", page.read_text(encoding="utf-8")):
        if "://" not in target:
            assert (page.parent / target).exists(), f"{page.name} → {target}"
