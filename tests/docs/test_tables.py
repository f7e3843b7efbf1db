import importlib.util
import re
import tomllib
from pathlib import Path

from build_dataset.pipeline.parse.judge import CHECKS

DOCS = Path(__file__).resolve().parents[2] / "docs"


def made_by(name: str):
    spec = importlib.util.spec_from_file_location(name, DOCS / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_pages_of_tables_and_gates_are_what_the_code_says():
    module = made_by("make_tables")
    assert (DOCS / "tables.md").read_text() == module.text(), "run `make docs`"
    assert (DOCS / "gates.md").read_text() == module.gates(), "run `make docs`"


def test_the_pictures_show_every_stage_and_part_of_the_code():
    module = made_by("make_picture")
    assert (DOCS / "img" / "stages.svg").read_text() == module.text(), "run `make docs`"
    assert (DOCS / "img" / "layers.svg").read_text() == module.layers(), "run `make docs`"
    drawn = {name.removesuffix("/").removesuffix(".py") for _, _, names in module.LAYERS for name in names}
    parts = {path.stem for path in (DOCS.parent / "pipeline").iterdir() if not path.name.startswith("__")}
    assert parts - drawn == set()


def test_the_table_of_gates_has_every_reason_that_the_parser_gives():
    folder = DOCS.parent / "pipeline" / "parse"
    code = "\n".join(path.read_text(encoding="utf-8") for path in sorted(folder.glob("*.py")))
    patterns = tomllib.loads((folder / "patterns.toml").read_text(encoding="utf-8"))
    named = [row["reason"] for row in patterns["row_texts"]["unusual"]] + [check.reason for check in CHECKS]
    code += "".join(f'.flag("{reason}"' for reason in named)
    listed = {row["reason"] for row in tomllib.loads((DOCS / "gates.toml").read_text(encoding="utf-8"))["gates"]}
    given = re.compile(r'\.flag\(\s*"(\w+)"|doubts(?:\.append\(| = \[)\("(\w+)"')
    assert {one or other for one, other in given.findall(code)} - listed == set()
    assert [reason for reason in listed if f'"{reason}"' not in code] == []
