"""A release goes to a hub in one commit, after it was said what would go."""

from __future__ import annotations

import base64
import json
from http.server import BaseHTTPRequestHandler

import pytest

pytest.importorskip("huggingface_hub", reason="needs the extra 'hub'")

from build_dataset.pipeline.export.release import Upload, plan_upload, push_release
from build_dataset.pipeline.runtime.publish import Publication
from build_dataset.schemas.dataset import DatasetParams
from build_dataset.schemas.errors import UserError
from tests.annotation.local_server import LocalServer, send


class Hub(LocalServer):
    """The part of the hub that an upload uses."""

    def __init__(self, refuse: bool = False) -> None:
        self.refuse = refuse
        self.asked: list[str] = []
        self.files: dict[str, bytes] = {}
        self.created: dict = {}
        super().__init__()
        self.address = self.url.removesuffix("/v1")

    def __enter__(self) -> Hub:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def post(self, handler: BaseHTTPRequestHandler, data: bytes) -> None:
        path = handler.path.partition("?")[0]
        self.asked.append(path)
        reply: dict = {}
        status = 403 if self.refuse else 200
        if path.endswith("/repos/create"):
            self.created = json.loads(data)
            reply = {"url": f"{self.address}/datasets/org/name"}
        elif path.endswith("/preupload/main"):
            names = [item["path"] for item in json.loads(data)["files"]]
            reply = {"files": [{"path": n, "uploadMode": "regular", "shouldIgnore": False} for n in names]}
        elif path.endswith("/commit/main"):
            for line in map(json.loads, data.decode().splitlines()):
                if line["key"] == "file":
                    self.files[line["value"]["path"]] = base64.b64decode(line["value"]["content"])
            address = f"{self.address}/datasets/org/name/commit/c0ffee"
            reply = {"commitOid": "c0ffee", "commitUrl": address, "success": True}
        send(handler, json.dumps(reply).encode(), status=status)


@pytest.fixture(autouse=True)
def online(monkeypatch):
    """Let the library reach the hub on loopback, also where another test imported it in offline mode."""
    from huggingface_hub import constants

    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)


@pytest.fixture
def released(tmp_path):
    folder = Publication(tmp_path / "releases" / "0.1.0")
    for name, data in {"README.md": b"# card", "croissant.json": b"{}", "cmb/test.json": b"[]"}.items():
        folder.file(name, data)
    keys = ("stage", "fingerprint", "complete", "counts", "reasons", "facts")
    folder.commit(dict.fromkeys(keys))
    return DatasetParams(name="d", version="0.1.0", releases=tmp_path / "releases")


def test_what_would_go_is_said_and_nothing_is_sent(released):
    found = plan_upload(released, "org/name")
    assert list(found.files) == ["README.md", "cmb/test.json", "croissant.json", "manifest.json"]
    assert found.files["README.md"] == 6


def test_all_files_go_in_one_commit_that_is_tagged(released, monkeypatch):
    monkeypatch.setenv("HF_TOKEN", "hf_nothing")
    with Hub() as hub:
        told = push_release(released, Upload("org/name", hub.address, plan_upload(released, "org/name").files))
    assert told.endswith("/commit/c0ffee")
    assert hub.files.keys() == plan_upload(released, "org/name").files.keys()
    assert hub.files["README.md"] == b"# card"
    assert "private" in json.dumps(hub.created)
    assert hub.asked[-1].endswith("/tag/c0ffee")
    assert sum(path.endswith("/commit/main") for path in hub.asked) == 1


def test_a_hub_that_refuses_is_one_line(released, monkeypatch):
    monkeypatch.setenv("HF_TOKEN", "hf_nothing")
    with Hub(refuse=True) as hub, pytest.raises(UserError, match="did not take the release") as caught:
        push_release(released, Upload("org/name", hub.address, {"README.md": 6}))
    assert "\n" not in str(caught.value)


def test_a_file_that_was_changed_after_the_release_does_not_go(released):
    (released.releases / "0.1.0" / "README.md").write_bytes(b"# other")
    with pytest.raises(UserError, match=r"README\.md is not as it was released"):
        plan_upload(released, "org/name")


@pytest.mark.parametrize("name", ["name", "a/b/c", "../x", "org/na me"])
def test_a_name_that_is_none_is_refused(released, name):
    with pytest.raises(UserError, match="ORG/NAME"):
        plan_upload(released, name)


def test_without_a_release_there_is_nothing_to_push(tmp_path):
    with pytest.raises(UserError, match="run `build-dataset release` first"):
        plan_upload(DatasetParams(name="d", releases=tmp_path), "org/name")
