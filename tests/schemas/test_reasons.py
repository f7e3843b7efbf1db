"""Every reason has a Chinese name; remedies name the file."""

import re
from pathlib import Path

from build_dataset import pipeline
from build_dataset.pipeline.clean.filters import FILTERS
from build_dataset.pipeline.parse.judge import CHECKS
from build_dataset.schemas.wording import reason_names, remedy

_REASON = re.compile(r'(?:UnreadableDocument|RowError|Failure|\.flag)\(\s*"(\w+)"|reason="(\w+)"')


def test_every_reason_in_the_code_has_a_chinese_name():
    files = Path(pipeline.__file__).parent.rglob("*.py")
    found = {one or other for path in files for one, other in _REASON.findall(path.read_text(encoding="utf-8"))}
    assert len(found) > 25
    found |= {each.reason for each in (*CHECKS, *FILTERS)}
    assert found - set(reason_names()) == set()


def test_a_file_that_is_refused_has_a_remedy_of_its_own():
    code = "".join(path.read_text(encoding="utf-8") for path in Path(pipeline.__file__).parent.rglob("*.py"))
    refused = {*re.findall(r'(?:UnreadableDocument|refused_as)\(\s*"(\w+)"', code)}
    assert len(refused) > 15
    assert [reason for reason in refused if remedy(reason, "x") == remedy("something_new", "x")] == []


def test_a_remedy_names_the_file_in_both_languages_and_every_reason_has_one():
    for reason in (*reason_names(), "something_new"):
        english, chinese = remedy(reason, "my bank.xlsx")
        assert "FILE" not in english + chinese
        assert re.search("[\u4e00-\u9fff]", chinese)
    assert "my bank.xlsx" in remedy("answer_not_read", "my bank.xlsx")[0]
