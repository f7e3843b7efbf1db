from importlib.util import spec_from_file_location
from types import SimpleNamespace

import pytest

from build_dataset.pipeline import doctor
from build_dataset.pipeline.config import load
from build_dataset.pipeline.doctor import CheckState, preflight, run_checks
from build_dataset.schemas.errors import UserError


def checks(folder, text, raw=True):
    (folder / "dataset.toml").write_text(text)
    if raw:
        (folder / "raw").mkdir(exist_ok=True)
    return {check.name: check for check in run_checks(load(folder / "dataset.toml"))}


def test_without_a_configuration_the_doctor_says_how_to_make_one():
    found = {check.name: check for check in run_checks(None)}
    assert found["dataset.toml"].state is CheckState.ABSENT
    assert "init" in found["dataset.toml"].remedy


def test_a_missing_raw_folder_is_wrong(tmp_path):
    found = checks(tmp_path, '[dataset]\nname = "x"\n', raw=False)
    assert found["raw folder"].state is CheckState.WRONG


def test_too_little_room_for_the_build_stops_a_run_with_the_room_there_is(tmp_path, monkeypatch):
    monkeypatch.setattr("shutil.disk_usage", lambda place: SimpleNamespace(free=150 * 1024 * 1024))
    (tmp_path / "dataset.toml").write_text('[dataset]\nname = "x"\n')
    with pytest.raises(UserError, match="only 150 MB free"):
        preflight(load(tmp_path / "dataset.toml"), ["parse"])


def test_no_language_model_is_no_fault(tmp_path):
    found = checks(tmp_path, '[dataset]\nname = "x"\n')
    assert found["language model"].state is CheckState.ABSENT
    assert not any(check.state is CheckState.WRONG for check in found.values())


def test_a_language_model_that_does_not_answer_is_wrong(tmp_path):
    text = '[dataset]\nname = "x"\n[annotate.llm]\nmodel = "m"\nbase_url = "http://127.0.0.1:9/v1"\n'
    assert checks(tmp_path, text)["language model"].state is CheckState.WRONG


def test_a_forgotten_key_is_wrong_with_the_variables_name(tmp_path, monkeypatch):
    monkeypatch.delenv("MY_KEY", raising=False)
    text = '[annotate.llm]\nmodel = "m"\nbase_url = "http://127.0.0.1:9/v1"\napi_key_env = "MY_KEY"\n'
    found = checks(tmp_path, f'[dataset]\nname = "x"\n{text}')
    assert "MY_KEY" in found["annotate"].detail


def test_an_engine_that_is_not_installed_is_wrong_with_its_remedy(tmp_path, monkeypatch):
    monkeypatch.setattr("build_dataset.pipeline.ocr.engines.find_spec", lambda name: None)
    found = checks(tmp_path, '[dataset]\nname = "x"\n[ocr]\nengine = "paddleocr"\n')
    assert "pip install" in found["ocr"].detail


@pytest.mark.parametrize(
    ("about", "library", "state"),
    [
        ("headless = True", None, None),
        ("headless = False", "libGL.so.1", CheckState.OK),
        ("headless = False", None, CheckState.WRONG),
    ],
)
def test_an_opencv_with_windows_on_a_server_is_wrong(tmp_path, monkeypatch, about, library, state):
    (tmp_path / "cv2").mkdir()
    (tmp_path / "cv2" / "__init__.py").touch()
    (tmp_path / "cv2" / "version.py").write_text(about)
    spec = spec_from_file_location("cv2", tmp_path / "cv2" / "__init__.py")
    monkeypatch.setattr(doctor, "find_spec", lambda name: spec)
    monkeypatch.setattr(doctor, "find_library", lambda name: library)
    found = {check.name: check.state for check in run_checks(None)}
    assert found.get("opencv") == state


@pytest.mark.parametrize(
    ("answer", "key", "state"),
    [({"release": "1.2"}, "k", "ok"), ({"release": "1.2"}, "", "absent"), ({}, "k", "absent"), ([], "k", "absent")],
)
def test_a_label_studio_that_answers_needs_its_key(monkeypatch, answer, key, state):
    monkeypatch.setattr("httpx.get", lambda url, timeout: SimpleNamespace(json=lambda: answer))
    monkeypatch.setenv("LABEL_STUDIO_API_KEY", key)
    found = doctor._label_studio(None)
    assert found.state == state
    assert ("1.2 at" in found.detail) is bool(answer)
