"""People who verify read Chinese: every doubt that a stage can have has a Chinese name."""

from __future__ import annotations

import re
from pathlib import Path

from build_dataset import pipeline
from build_dataset.pipeline.clean.filters import FILTERS
from build_dataset.pipeline.parse.judge import CHECKS
from build_dataset.schemas.wording import reason_names

_DOUBT = re.compile(r'\.flag\(\s*"(\w+)"')


def test_every_doubt_has_a_chinese_name():
    sources = (Path(pipeline.__file__).parent / "parse").glob("*.py")
    parse = {name for path in sources for name in _DOUBT.findall(path.read_text(encoding="utf-8"))}
    clean = {each.reason for each in FILTERS if each.action == "review"}
    parse |= {check.reason for check in CHECKS}
    assert len(parse) > 10
    assert parse | clean <= reason_names().keys()
