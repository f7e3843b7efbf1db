"""ZIP archives: members are papers, names are data, and what cannot be unpacked is one line."""

import errno
import json
import os
import shutil
import signal
import struct
import subprocess
import sys
import time
import zipfile
from pathlib import PurePosixPath

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from build_dataset.pipeline import archives
from build_dataset.pipeline.archives import locate, unpack
from build_dataset.pipeline.ocr import stage as ocr
from build_dataset.pipeline.ocr.params import OcrParams
from build_dataset.pipeline.parse import stage as parse
from build_dataset.pipeline.parse.params import ParseParams
from build_dataset.pipeline.runtime.sources import raw_files
from build_dataset.schemas.errors import UserError
from build_dataset.schemas.questions import Question

OPTIONS = "\nA. 甲\nB. 乙\nC. 丙\nD. 丁\n"
PAPER = f"1. 关于肺炎的叙述，正确的是{OPTIONS}2. 关于胃炎的叙述，错误的是{OPTIONS}"
KEY = "参考答案\n1. B\n2. C\n"


def pack(path, members, method=zipfile.ZIP_DEFLATED):
    with zipfile.ZipFile(path, "w", method) as archive:
        for name, content in members:
            archive.writestr(name, content)
    return path


def raw_name(path, name: bytes):
    """Give the only member another name of the same length, without the mark of UTF-8."""
    content = path.read_bytes().replace(b"x" * len(name), name)
    path.write_bytes(content)
    return path


@pytest.fixture
def box(tmp_path):
    return tmp_path / "papers.zip"


@pytest.fixture
def names(box, tmp_path):
    return lambda: [*unpack(box, tmp_path / "build").members]


@pytest.fixture
def read(context):
    def run():
        tables = {"files": raw_files(context.dataset)}
        return tables["files"]["document"].to_list(), ocr.run(tables, OcrParams(), context)

    return run


@pytest.fixture
def context(context):
    context.dataset = context.dataset.model_copy(update={"raw": context.raw, "build": context.build})
    return context


def test_members_are_read_like_files_of_the_raw_folder_and_keys_find_their_papers(context, read):
    pack(
        context.raw / "卷.zip", [("papers/a.txt", PAPER), ("answers/a.txt", KEY), ("__MACOSX/._a.txt", "x"), ("d/", "")]
    )
    (context.raw / "copy.txt").write_text(KEY, encoding="utf-8")
    documents, result = read()
    assert documents == ["copy.txt", "卷.zip/answers/a.txt", "卷.zip/papers/a.txt"]
    assert (result.counts.kept, result.counts.merged, result.rejects) == (2, 1, [])
    (context.raw / "copy.txt").unlink()
    parsed = parse.run(read()[1].tables, ParseParams(), context)
    questions = Question.from_frame(parsed.tables["questions"])
    assert [(each.document, each.answer) for each in questions] == [
        ("卷.zip/papers/a.txt", ["B"]),
        ("卷.zip/papers/a.txt", ["C"]),
    ]


def test_a_bomb_is_one_line_and_the_rest_of_the_folder_unharmed(context, read):
    pack(context.raw / "bomb.zip", [("a.csv", b"0" * 120_000_000)])
    (context.raw / "a.txt").write_text(PAPER, encoding="utf-8")
    _, result = read()
    assert [(reject.item_id, reject.reason) for reject in result.rejects] == [("bomb.zip", "too_large")]
    assert "120 MB" in result.rejects[0].detail
    assert result.counts.kept == 1
    assert not [*(context.build / "unpacked").rglob("*.csv")]


def test_files_and_directories_beyond_bounds_are_refused(box, tmp_path, monkeypatch):
    monkeypatch.setattr(archives, "MEMBERS", 3)
    pack(box, [(f"{number}.txt", "x") for number in range(4)])
    assert unpack(box, tmp_path / "build").refused[0] == "too_large"
    pack(box, [("a.txt", "x"), ("b" * 4000, "x")])
    assert "directory" in unpack(box, tmp_path / "build").refused[1]


def test_what_a_directory_tells_of_sizes_is_a_bound(box, tmp_path):
    pack(box, [("a.txt", b"0" * 1_000_000)])
    content = bytearray(box.read_bytes())
    at = content.rfind(b"PK\1\2")
    content[at + 24 : at + 28] = struct.pack("<L", 10)
    box.write_bytes(content)
    found = unpack(box, tmp_path / "build")
    assert not found.members
    assert found.refused[0] == "broken"


def test_encrypted_and_damaged_members_are_told_and_the_others_read(box, context, read):
    path = pack(context.raw / "a.zip", [("a.txt", PAPER), ("b.txt", b"0123456789" * 9), ("c.txt", KEY)], 0)
    content = bytearray(path.read_bytes().replace(b"0123456789" * 9, b"0123456789" * 8 + b"012345678_"))
    at = content.find(b"c.txt", content.find(b"PK\1\2"))
    content[at - 46 + 8] |= 1
    path.write_bytes(content)
    documents, result = read()
    assert documents == ["a.zip", "a.zip/a.txt"]
    assert [reject.item_id for reject in result.rejects] == ["a.zip"]
    assert "2 of 3 members were not unpacked: b.txt: cut short or damaged" in result.rejects[0].detail
    (context.raw / "b.zip").write_bytes(b"Rar!\x1a\x07")
    assert {reject.item_id: reject.reason for reject in read()[1].rejects} == {"a.zip": "broken", "b.zip": "broken"}


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("../../etc/passwd", "__/__/etc/passwd"),
        ("/abs/a.txt", "abs/a.txt"),
        ("C:\\题\\a.txt", "C:/题/a.txt"),
        ("a//./b\n\u202e.txt", "a/b__.txt"),
        ("..", "__"),
    ],
)
def test_names_that_lead_outside_are_data(box, names, name, shown):
    pack(box, [(name, "x")])
    assert names() == [shown]


@pytest.mark.parametrize("encoding", ["gbk", "utf-8"])
def test_names_without_a_mark_are_those_of_chinese_systems(box, names, encoding):
    name = "内科/试题.txt".encode(encoding)
    raw_name(pack(box, [("x" * len(name), PAPER)]), name)
    assert names() == ["内科/试题.txt"]


def test_files_of_one_name_are_told_apart(box, names):
    with pytest.warns(UserWarning, match="Duplicate"):
        pack(box, [("a.txt", "1"), ("a.txt", "2"), ("./a.txt", "3")])
    assert names() == ["a.txt", "a (2).txt", "a (3).txt"]


@settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.text(min_size=1, max_size=30), min_size=1, max_size=4, unique=True), st.data())
def test_any_names_and_any_damage_end_in_names_below_the_archive_or_in_a_line(tmp_path, told, data):
    box = tmp_path / "any.zip"
    try:
        pack(box, [(name, name.encode()) for name in told])
    except (ValueError, UserWarning, IndexError):
        return
    content = bytearray(box.read_bytes())
    for _ in range(data.draw(st.integers(0, 3))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    box.write_bytes(content[: data.draw(st.integers(0, len(content)))] if data.draw(st.booleans()) else content)
    found = unpack(box, tmp_path / "build")
    assert found.members or found.refused
    for name, path in found.members.items():
        parts = PurePosixPath(name).parts
        assert not name.startswith("/")
        assert ".." not in parts
        name.encode()
        assert path.is_relative_to(tmp_path / "build" / "unpacked")


def test_the_same_archive_is_unpacked_once_with_the_same_bytes_and_again_when_its_copy_is_gone(box, tmp_path):
    pack(box, [("b.txt", "乙"), ("a.txt", "甲")])
    build = tmp_path / "build"
    first = unpack(box, build)
    index = next((build / "unpacked").glob("*/index.json"))
    content = index.read_bytes()
    shutil.rmtree(index.parent)
    assert unpack(box, build) == first
    assert index.read_bytes() == content
    assert locate(tmp_path, build, "papers.zip/a.txt").read_text(encoding="utf-8") == "甲"
    assert not locate(tmp_path, build, "papers.zip/none.txt").exists()
    assert locate(tmp_path, build, "papers.zip") == box
    assert json.loads(content)["refused"] is None


def test_killed_at_any_moment_the_copy_is_whole_or_not_there(box, tmp_path):
    pack(box, [(f"{number}.txt", os.urandom(20_000)) for number in range(300)])
    build = tmp_path / "build"
    code = "import sys, pathlib; from build_dataset.pipeline.archives import unpack; print(1, flush=True); "
    code += "unpack(*map(pathlib.Path, sys.argv[1:]))"
    for delay in (0.0, 0.01, 0.03):
        process = subprocess.Popen([sys.executable, "-c", code, str(box), str(build)], stdout=subprocess.PIPE)
        process.stdout.readline()
        time.sleep(delay)
        process.send_signal(signal.SIGKILL)
        process.wait()
        process.stdout.close()
        for home in (build / "unpacked").glob("[!.]*"):
            assert len([*home.iterdir()]) == 301
    assert len(unpack(box, build).members) == 300


def test_no_room_is_one_line_and_leaves_nothing(box, tmp_path, monkeypatch):
    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    pack(box, [("a.txt", "x")])
    monkeypatch.setattr(archives, "_copy", full)
    with pytest.raises(UserError, match=r"papers\.zip cannot be unpacked .*No space left"):
        unpack(box, tmp_path / "build")
    assert not [*(tmp_path / "build" / "unpacked").iterdir()]
