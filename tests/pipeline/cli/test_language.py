"""Messages are English, or Chinese by --lang or the locale; the catalogue of Chinese texts is complete."""

import ast
import json
import re
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

import pytest
from typer.main import get_command
from typer.testing import CliRunner

import build_dataset.pipeline.cli
from build_dataset.pipeline.catalogue import STAGES
from build_dataset.pipeline.cli.app import app
from build_dataset.pipeline.cli.language import MessageLanguage, choose, is_chinese, stage_name, translated, word
from build_dataset.pipeline.cli.report import reason_line, sum_line
from build_dataset.schemas.data import shipped_toml
from build_dataset.schemas.grouping import group_values

TEMPLATES = Path(build_dataset.pipeline.cli.__file__).parent / "templates"
PACKAGE = TEMPLATES.parents[2]
TEXTS = shipped_toml("build_dataset.pipeline.cli", "templates/zh.toml")
FILES = (path for part in ("annotation", "pipeline", "schemas") for path in (PACKAGE / part).rglob("*.py"))
NODES = [(each, tree) for tree in (ast.parse(path.read_text("utf-8")) for path in FILES) for each in ast.walk(tree)]
FUNCTIONS = group_values((each.name, each) for each, _ in NODES if isinstance(each, ast.FunctionDef))
MODULES = {id(each): tree for each, tree in NODES if isinstance(each, ast.FunctionDef)}
CALLS = group_values((ast.unparse(each.func).split(".")[-1], each) for each, _ in NODES if isinstance(each, ast.Call))
DATA = (  # files with messages, and their sections
    ("build_dataset.annotation.llm", "faults.toml", "hopeless"),
    ("build_dataset.annotation.label_studio", "refusals.toml", "before"),
    ("build_dataset.annotation.label_studio", "refusals.toml", "server"),
)
SET = ast.Assign | ast.NamedExpr | ast.AugAssign
SHOWN = {"UserError": 0, "NothingToSendError": 0, "UnreadableDocument": 1, "print_line": 0, "print_warning": 0}
"""Names of what shows a message, with the place of the message among its arguments."""


@pytest.fixture
def chinese() -> None:
    choose(MessageLanguage.ZH)


def text_of(node: ast.expr) -> str | None:
    """The text of an expression, ``{0}`` for what is put in first; None where no text of its own is in it."""
    if isinstance(node, ast.BinOp):
        parts = [text_of(node.left), text_of(node.right)]
        return None if parts == [None, None] else "".join("\0" if part is None else part for part in parts)
    if isinstance(node, ast.JoinedStr):
        return "".join(part.value if isinstance(part, ast.Constant) else "\0" for part in node.values)
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None


def set_to(name: str, scope: ast.FunctionDef) -> Iterator[tuple[ast.AST, ast.FunctionDef]]:
    """Values of a name of a function: those that it or its module sets, and those that are given for an argument."""
    for made in (each for part in (scope, MODULES[id(scope)]) for each in ast.walk(part) if isinstance(each, SET)):
        if name in map(ast.unparse, made.targets if isinstance(made, ast.Assign) else [made.target]):
            yield made.value, scope
    taken = [each.arg for each in scope.args.args]
    for call in CALLS[scope.name] if name in taken and len(FUNCTIONS[scope.name]) == 1 else ():
        yield from ((given, scope) for given in call.args[taken.index(name) :][:1])


def behind(node: ast.AST, scope: ast.FunctionDef) -> Iterator[tuple[ast.AST, ast.FunctionDef]]:
    """The next expressions that an expression may stand for, each with its function."""
    if isinstance(node, ast.Name):
        yield from set_to(node.id, scope)
    elif isinstance(node, ast.Call):
        name = ast.unparse(node.func).split(".")[-1]
        found = FUNCTIONS[name] if len(FUNCTIONS[name]) == 1 else []
        ends = (
            (end.value, each) for each in found for end in ast.walk(each) if isinstance(end, ast.Return | ast.Yield)
        )
        yield from ((value, each) for value, each in ends if value)
        yield from ((part, scope) for part in {"join": node.args, "format": [node.func]}.get(name, ()))
    elif isinstance(node, ast.IfExp | ast.BoolOp | ast.GeneratorExp | ast.List | ast.Tuple | ast.Attribute):
        yield from ((part, scope) for part in ast.iter_child_nodes(node))
    elif isinstance(node, ast.JoinedStr | ast.FormattedValue | ast.BinOp):
        yield from ((part, scope) for part in ast.iter_child_nodes(node) if not isinstance(part, ast.Constant))


def messages() -> Iterator[str]:
    """Every message with words of its own that the code shows, and every part of one; parts begin with {0}."""
    texts = [text for package, name, key in DATA for text in shipped_toml(package, name)[key].values()]
    queue = [
        (call.args[at], scope)
        for scope in chain(*FUNCTIONS.values())
        for call in ast.walk(scope)
        if isinstance(call, ast.Call)
        and len(call.args) > (at := SHOWN.get(ast.unparse(call.func).split(".")[-1], len(call.args)))
    ]
    seen = set[int]()
    for node, scope in queue:  # grows
        texts.append(text_of(node) or "" if isinstance(node, ast.expr) else "")
        queue += [each for each in behind(node, scope) if id(each[0]) not in seen]
        seen.add(id(node))
    for text in (re.sub(r"\{[a-z!]+\}", "\0", text.strip()) for text in texts):
        if re.search("[A-Za-z]{2}.* .*[A-Za-z]{2}", text) and "[/" not in text:  # no codes, names or markup
            first, *others = f"\0{text}".split("\0") if re.match("[:;,]", text) else text.split("\0")
            yield first + "".join(f"{{{number}}}{part}" for number, part in enumerate(others))


def places(text: str) -> list[str]:
    return sorted(re.findall(r"\{\d+\}", text))


def test_every_message_has_a_chinese_text():
    found = {*messages()}
    assert len(found) > 300
    assert found - {*TEXTS["messages"]} - {word.strip() for word in TEXTS["words"]} == set()


def test_chinese_texts_put_in_what_the_english_ones_do():
    differ = {text for text, chinese in TEXTS["messages"].items() if places(text) != places(chinese)}
    split = {
        text
        for text, chinese in TEXTS["messages"].items()
        if any(pair not in chinese for pair in re.findall(r"(?=(\{\d+\}\{\d+\}))", text))
    }
    assert (differ, split) == (set(), set())


def test_each_message_is_found_by_its_words_and_keeps_what_was_put_in(chinese):
    for english, expected in TEXTS["messages"].items():
        values = [f"甲{number}乙" for number in range(len(places(english)))]
        shown = english
        for number, value in enumerate(values):
            shown = shown.replace(f"{{{number}}}", value)
            expected = expected.replace(f"{{{number}}}", value)
        assert translated(shown) == expected


def test_every_template_has_a_chinese_twin_about_the_same_things():
    for path in (path for path in TEMPLATES.glob("*.txt") if ".zh." not in path.name):
        twin = path.with_name(f"{path.stem}.zh.txt")
        named = [{*re.findall(r"\bit\.[a-z_.]+", one.read_text("utf-8"))} for one in (path, twin)]
        assert named[0] == named[1], path.name


def helps(shown) -> Iterator[str]:
    """Every line of help, of a command, its options, and the commands below it."""
    yield from filter(None, [*(shown.help or "").split("\n"), getattr(shown, "epilog", None)])
    for each in (*getattr(shown, "params", ()), *getattr(shown, "commands", {}).values()):
        yield from helps(each)


def test_every_line_of_help_has_a_chinese_text_and_none_is_left_over():
    found = {line for line in helps(get_command(app)) if "[cyan]" not in line}
    assert {*TEXTS["help"]} - found == {"Show this message and exit."}
    assert found - {*TEXTS["help"]} == set()


def test_help_is_in_the_language_of_the_option_whole_and_with_defaults_as_they_are_written(monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    chinese, english = (
        re.sub(r"[\s│]+", " ", CliRunner().invoke(app, ["--lang", language, "split", "--help"]).stdout)
        for language in ("zh", "en")
    )
    assert "按比例划分" in chinese
    assert "[默认值: 8:1:1]" in chinese
    assert "[default: 8:1:1]" in english
    assert "…" not in chinese + english
    assert "开始和构建" in CliRunner().invoke(app, ["--lang", "zh", "--help"]).stdout


def test_stages_outcomes_and_states_have_chinese_names(chinese):
    names = ("kept", "merged", "rejected", "waiting", "done", "stale", "incomplete", "missing")
    assert [stage.name for stage in STAGES if not re.match("[一-鿿]+ ", stage_name(stage.name))] == []
    assert [name for name in names if not re.fullmatch("[一-鿿]+", word(name))] == []


def test_counts_and_reasons_are_told_in_chinese(chinese):
    counts = {"unit": "items", "in": 64, "kept": 60, "merged": 1, "rejected": 3, "waiting": 0}
    assert sum_line(counts) == "64 项 = 60 保留 + 1 合并 + 3 剔除"
    assert reason_line({"no_answer": 3}) == "没有答案 no_answer 3"


@pytest.mark.parametrize(
    ("locale", "chosen", "expected"),
    [
        ({}, None, False),
        ({"LANG": "zh_CN.UTF-8"}, None, True),
        ({"LANG": "zh_CN.UTF-8", "LC_ALL": "C"}, None, False),
        ({"LANG": "en_GB", "LC_MESSAGES": "zh_TW"}, None, True),
        ({"LANG": "zh_CN.UTF-8"}, MessageLanguage.EN, False),
        ({}, MessageLanguage.ZH, True),
    ],
)
def test_the_language_is_that_of_the_option_else_of_the_locale(monkeypatch, locale, chosen, expected):
    for name in ("LC_ALL", "LC_MESSAGES", "LANG"):
        monkeypatch.delenv(name, raising=False)
    for name, value in locale.items():
        monkeypatch.setenv(name, value)
    choose(chosen)
    assert is_chinese() is expected


def test_a_line_that_the_catalogue_does_not_know_stays_and_english_is_untouched(chinese):
    assert translated("one thing\n  nothing built in b: run `build-dataset run` first") == (
        "one thing\n  b 中还没有结果：请先运行 `build-dataset run`"
    )
    choose(MessageLanguage.EN)
    assert translated("nothing built in b: run `build-dataset run` first").startswith("nothing built")


def test_scripts_see_no_difference(tmp_path):
    (tmp_path / "dataset.toml").write_text('[dataset]\nname = "x"\n', encoding="utf-8")
    config = ["-c", str(tmp_path / "dataset.toml")]
    seen = [CliRunner().invoke(app, ["--lang", lang, "status", "--json", *config]) for lang in ("zh", "en")]
    assert seen[0].exit_code == seen[1].exit_code == 0
    assert json.loads(seen[0].stdout) == json.loads(seen[1].stdout)
    shown = CliRunner().invoke(app, ["--lang", "zh", "status", *config]).stdout
    assert "解析 parse" in shown
    assert "stage" not in shown
