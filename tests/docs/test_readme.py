import importlib.util
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("name", ["README.md", "README.zh-CN.md"])
def test_the_counts_and_rows_that_a_readme_shows_are_those_of_the_sample(sample_build, name):
    spec = importlib.util.spec_from_file_location("make_readme", ROOT / "docs" / "make_readme.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    text = (ROOT / name).read_text(encoding="utf-8")
    assert text == module.filled(text, sample_build), "run `make docs`"


@pytest.mark.parametrize("page", [*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md"), ROOT / "raw" / "README.md"])
def test_links_between_pages_lead_somewhere(page):
    import re

    for target in re.findall(r"\]\(([^)#]+)[^)]*\)", page.read_text(encoding="utf-8")):
        if "://" not in target:
            assert (page.parent / target).exists(), f"{page.name} → {target}"
