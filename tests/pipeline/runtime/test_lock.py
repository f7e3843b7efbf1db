import os

import pytest
from filelock import FileLock

from build_dataset.pipeline.runtime.publish import build_lock
from build_dataset.schemas.errors import UserError


def test_what_a_killed_process_left_holds_nobody_up(tmp_path):
    (tmp_path / ".lock").touch()
    (tmp_path / ".lock.pid").write_text("1")
    with build_lock(tmp_path):
        assert (tmp_path / ".lock.pid").read_text() == str(os.getpid())
    assert not (tmp_path / ".lock.pid").exists()


@pytest.mark.parametrize("refused", ["acquire", "write_text"])
def test_a_folder_that_cannot_be_written_is_told_and_not_held(tmp_path, monkeypatch, refused):
    def refuse(*given, **named):
        raise PermissionError(13, "Permission denied")

    owner = FileLock if refused == "acquire" else type(tmp_path)
    with monkeypatch.context() as patch:
        patch.setattr(owner, refused, refuse)
        with pytest.raises(UserError, match=r"cannot write .*: Permission denied"), build_lock(tmp_path):
            pass
    with build_lock(tmp_path):
        pass


def test_a_held_folder_is_refused_at_once_and_in_one_line(tmp_path, monkeypatch):
    waits, acquire = [], FileLock.acquire

    def noted(self, timeout=None, **named):
        waits.append(timeout)
        return acquire(self, timeout=0)

    monkeypatch.setattr(FileLock, "acquire", noted)
    folder = tmp_path / "a" / "b"
    with build_lock(folder), pytest.raises(UserError) as caught, build_lock(folder):
        pass
    told = f"another build-dataset (process {os.getpid()}) is writing {folder}: wait for it to finish"
    assert (str(caught.value), waits) == (told, [0, 0])


def test_a_place_that_is_no_folder_is_told_whole(tmp_path):
    (tmp_path / "build").touch()
    with pytest.raises(UserError) as caught, build_lock(tmp_path / "build"):
        pass
    assert str(caught.value) == f"cannot write {tmp_path}/build: File exists: set dataset.build elsewhere"
