from pathlib import Path

import pytest

from build_dataset.pipeline.config import load, toml_value
from build_dataset.schemas.data import shipped_toml
from build_dataset.schemas.errors import UserError


def write(folder: Path, text: str) -> Path:
    path = folder / "dataset.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_paths_are_relative_to_the_file_also_in_sections_within_sections(tmp_path):
    text = '[dataset]\nname = "x"\n[ocr.paddleocr]\ndetection_dir = "models/det"\n'
    config = load(write(tmp_path, text))
    names = ("raw", "build", "releases")
    assert [getattr(config.dataset, name) for name in names] == [tmp_path / name for name in names]
    assert config.params("ocr").paddleocr.detection_dir == tmp_path / "models" / "det"


@pytest.mark.parametrize(("key", "instead"), shipped_toml("build_dataset.schemas", "removed.toml").items())
def test_a_setting_that_is_gone_is_refused_with_what_takes_its_place(tmp_path, key, instead):
    section, _, name = key.rpartition(".")
    with pytest.raises(UserError) as caught:
        load(write(tmp_path, f'dataset.name = "x"\n{section}.{name} = 1\n'))
    assert str(caught.value).endswith(f"dataset.toml: {key} is gone: {instead}")


def test_all_problems_are_told_at_once(tmp_path):
    with pytest.raises(UserError) as caught:
        load(write(tmp_path, '[dataset]\nname = "x"\nsede = 1\n[exprot]\n'))
    assert len(str(caught.value).splitlines()) == 2


def test_a_missing_name_is_told(tmp_path):
    with pytest.raises(UserError, match=r"dataset\.name is missing"):
        load(write(tmp_path, "[dataset]\n"))


SECRET = "sk-proj-1234"


@pytest.mark.parametrize(
    "text",
    [
        f"[annotate.llm]\napi_key = '{SECRET}'",
        f"[annotate.llm]\napi_key_env = '{SECRET}'",
        f"[annotate.llm]\nbase_url = 'https://me:{SECRET}@host/v1'",
        f"[annotate.llm]\nbase_url = 'https://host/v1?key={SECRET}'",
        f"[annotate.llm]\nextra_body = '{SECRET}'",
        f"[annotate]\nllm = '{SECRET}'",
        f"[review]\nurl = 'http://me:{SECRET}@host'",
        f"[review]\napi_key_env = '{SECRET}'",
        f"[evaluate]\nbase_url = 'https://me:{SECRET}@host/v1'",
        f"[evaluate]\napi_key_env = '{SECRET}'",
        f"[[evaluate.models]]\nkind = 'openai'\nmodel = 'm'\napi_key_env = '{SECRET}'",
    ],
)
def test_a_key_in_the_wrong_place_is_refused_and_not_repeated(tmp_path, text):
    with pytest.raises(UserError) as caught:
        load(write(tmp_path, f'[dataset]\nname = "x"\n{text}\n'))
    assert SECRET not in str(caught.value)
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__


@pytest.mark.parametrize("url", ["http://h:99999", "http://h:x", "http://[h", "h", "ftp://h"])
def test_what_is_no_address_is_refused(tmp_path, url):
    with pytest.raises(UserError, match=r"review\.url: "):
        load(write(tmp_path, f'[dataset]\nname = "x"\n[review]\nurl = "{url}"\n'))


def test_no_file_says_how_to_make_one(tmp_path):
    with pytest.raises(UserError, match="build-dataset init"):
        load(tmp_path / "dataset.toml")


NOT_TOML = [b"[dataset", b"\xff\xfe\x00", "name = '题目'".encode("gb18030")]
MADE_TO_BREAK_ITS_READER = [b"x = " + value for value in (b"9" * 5000, b"[" * 5000, b'"\\u0000')]


@pytest.mark.parametrize("content", NOT_TOML + MADE_TO_BREAK_ITS_READER)
def test_what_is_not_toml_is_told(tmp_path, content):
    path = tmp_path / "dataset.toml"
    path.write_bytes(content)
    with pytest.raises(UserError, match="is not TOML in UTF-8"):
        load(path)


def test_a_wrong_form_is_told_with_what_it_should_be(tmp_path):
    with pytest.raises(UserError, match=r"split\.ratios = '9:1': not of the form .*train:validation:test.*'8:1:1'"):
        load(write(tmp_path, '[dataset]\nname = "x"\n[split]\nratios = "9:1"\n'))


def test_a_file_as_windows_editors_save_it_is_read(tmp_path):
    path = tmp_path / "dataset.toml"
    path.write_bytes("\ufeff[dataset]\r\nname = \"x\"\r\nraw = 'papers\\2024'\r\n".encode())
    assert load(path).dataset.name == "x"


@pytest.mark.parametrize(
    ("folders", "told"),
    [
        ({"raw": "clean", "build": "."}, r"dataset\.raw .* lies in dataset\.build"),
        ({"raw": "build"}, r"dataset\.raw .* lies in dataset\.build"),
        ({"raw": "x/../build"}, r"dataset\.raw .* lies in dataset\.build"),
        ({"releases": "build/export"}, r"dataset\.releases .* lies in dataset\.build"),
        ({"raw": "releases/0.1.0"}, r"dataset\.raw .* lies in dataset\.releases"),
        ({"build": "out", "releases": "."}, r"dataset\.build .* lies in dataset\.releases"),
    ],
)
def test_papers_and_releases_do_not_lie_where_they_would_be_replaced(tmp_path, folders, told):
    text = "".join(f"{name} = '{folder}'\n" for name, folder in folders.items())
    (tmp_path / "dataset.toml").write_text(f'[dataset]\nname = "x"\n{text}')
    with pytest.raises(UserError, match=told):
        load(tmp_path / "dataset.toml")


def test_a_link_to_the_papers_is_seen_through(tmp_path):
    (tmp_path / "papers").mkdir()
    (tmp_path / "build").symlink_to("papers")
    (tmp_path / "dataset.toml").write_text('[dataset]\nname = "x"\nraw = "papers"\n')
    with pytest.raises(UserError, match="lies in"):
        load(tmp_path / "dataset.toml")


def test_a_folder_of_papers_may_hold_what_is_made_of_them(tmp_path):
    (tmp_path / "dataset.toml").write_text('[dataset]\nname = "x"\nraw = "."\n')
    assert load(tmp_path / "dataset.toml").dataset.build == tmp_path / "build"


@pytest.mark.parametrize("value", ["'~nosuchuser/x'", '"a\\u0000b"'])
@pytest.mark.parametrize("key", ["raw", "labels"])
def test_what_is_no_path_is_told(tmp_path, key, value):
    (tmp_path / "dataset.toml").write_text(f'[dataset]\nname = "x"\n{key} = {value}\n')
    with pytest.raises(UserError, match=rf"dataset\.{key} = .* is not a path"):
        load(tmp_path / "dataset.toml")


@pytest.mark.parametrize("pair", [("date", "2026-99-99"), ("date", "20261122"), ("version", "１.０.０")])
def test_dates_and_versions_are_those_of_the_calendar_and_in_ascii(tmp_path, pair):
    (tmp_path / "dataset.toml").write_text(f'[dataset]\nname = "x"\n{pair[0]} = "{pair[1]}"\n')
    with pytest.raises(UserError, match=rf"dataset\.{pair[0]}"):
        load(tmp_path / "dataset.toml")


def test_a_variable_overrides_a_key_and_an_option_overrides_both(tmp_path, monkeypatch):
    (tmp_path / "dataset.toml").write_text('[dataset]\nname = "x"\nseed = 1\n[ocr]\ndpi = 150\n')
    monkeypatch.setenv("BUILD_DATASET_DATASET__SEED", "2")
    monkeypatch.setenv("BUILD_DATASET_OCR__DPI", "200")
    monkeypatch.setenv("BUILD_DATASET_ANNOTATE__LLM__MODEL", "gpt-4o")
    config = load(tmp_path / "dataset.toml", {"ocr.dpi": 300})
    assert (config.dataset.seed, config.ocr.dpi, config.annotate.llm.model) == (2, 300, "gpt-4o")


def test_a_variable_that_names_no_key_is_told(tmp_path, monkeypatch):
    (tmp_path / "dataset.toml").write_text('[dataset]\nname = "x"\n')
    monkeypatch.setenv("BUILD_DATASET_OCR__DPY", "2")
    with pytest.raises(UserError, match=r"BUILD_DATASET_OCR__DPY: unknown key ocr\.dpy; did you mean dpi"):
        load(tmp_path / "dataset.toml")


def test_a_variable_with_one_underscore_is_refused_and_an_option_is_named_as_such(tmp_path, monkeypatch):
    (tmp_path / "dataset.toml").write_text('[dataset]\nname = "x"\n')
    for key, told in (("sed", "sed; did you mean"), ("orc.dpi", "orc; did you mean ocr")):  # a key, and in a section
        with pytest.raises(UserError, match=f"^command line: unknown key {told}"):
            load(tmp_path / "dataset.toml", {key: 2})
    monkeypatch.setenv("BUILD_DATASET_OCR_ENGINE", "rapidocr")
    with pytest.raises(UserError, match="BUILD_DATASET_OCR__ENGINE"):
        load(tmp_path / "dataset.toml")


def test_columns_of_sources_reach_the_stages(tmp_path):
    text = '[dataset]\nname = "b"\n[sources."bank.xlsx"]\nstem = "内容一"\noptions = ["甲", "乙"]\n'
    (tmp_path / "dataset.toml").write_text(text, encoding="utf-8")
    config = load(tmp_path / "dataset.toml")
    assert config.params("ocr").columns == ("乙", "内容一", "甲")
    assert config.params("parse").sources["bank.xlsx"].stem == "内容一"


def told(tmp_path, text, **overrides):
    with pytest.raises(UserError) as caught:
        load(write(tmp_path, f'[dataset]\nname = "x"\n{text}'), overrides)
    return str(caught.value).removeprefix("dataset.toml: ")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[split]\nqqqqqq = 1\n", "unknown key split.qqqqqq; known here: "),
        ("[split]\nrats = 1\n", "unknown key split.rats; did you mean ratios?"),
        ("[annotate.llm]\nmodle = 1\n", "unknown key annotate.llm.modle; did you mean model?"),
        ("version = 1.0\n", "dataset.version = 1.0: Input should be a valid string; quote it: '\"…\"'"),
        ("[split]\nratios = 1\n", "split.ratios = 1: Input should be a valid string; quote it"),
        ("[executor]\nworkers = 0\n", "executor.workers = 0: Input should be greater than or equal to 1"),
        ("[executor]\nnum_gpus = 16.5\n", "executor.num_gpus = 16.5: Input should be less than or equal to 16"),
        ("[executor]\nkind = 'x'\n", "executor.kind = 'x': Input should be 'local' or 'ray'"),
        ("ocr = 5\n[executor]\n", "unknown key dataset.ocr"),
        ("[annotate]\nmodel = 'm'\n", "unknown key annotate.model; did you mean [annotate.llm] model?"),
    ],
)
def test_each_problem_is_told_with_its_key_and_a_remedy(tmp_path, text, message):
    assert told(tmp_path, text).startswith(message)


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("seed = 1\ntitle = “x”\n", "; write straight quotes and a plain = there"),
        ("seed = 1\nseed = ”\n# a“b\n", "; write straight quotes and a plain = there"),
        ("[ocr]\n[ocr]\n", "; a section stands once: put its keys together"),
        ('raw = "C:\\Users"\n', "; paths with backslashes stand in 'single quotes'"),
        ("seed = \n# “quotes” elsewhere\n", ""),
    ],
)
def test_what_is_not_toml_has_the_hint_of_its_line(tmp_path, text, hint):
    message = told(tmp_path, text)
    assert message.endswith(hint) if hint else ";" not in message


def test_a_section_is_no_value_and_a_value_no_section(tmp_path):
    assert told(tmp_path, "", **{"dataset.name.x": 1}) == "dataset.name.x: name is not a section"
    assert load(write(tmp_path, '[dataset]\nname = "x"\n'), {"ocr.vision.model": "m"}).ocr.vision.model == "m"


@pytest.mark.parametrize(
    ("text", "value"), [("7", 7), ("true", True), ("[8, 1, 1]", [8, 1, 1]), ("8:1:1", "8:1:1"), ("", "")]
)
def test_values_of_the_command_line_are_toml_where_they_can_be(text, value):
    assert toml_value(text) == value
