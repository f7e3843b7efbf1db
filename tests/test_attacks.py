"""A draw of the attacks in ``benchmarks/attack``: damaged files and arguments end in lines, never in a traceback."""

import os
import random
import shutil

import pytest

from benchmarks.attack import fuzz


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    return fuzz.build(tmp_path_factory.mktemp("attack") / "built", last="dedup")


@pytest.fixture
def home(built, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    shutil.copytree(built, tmp_path / "case")
    monkeypatch.setattr("sys.argv", [])
    os.chdir(tmp_path / "case")
    return tmp_path / "case"


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("kind", fuzz.KINDS)
def test_damage_ends_in_a_documented_exit_code(home, kind, seed):
    work, _ = fuzz.KINDS[kind]
    code, told = work(random.Random(f"test {kind}{seed}"), home)
    assert code in fuzz.ALLOWED, told
    assert "Traceback" not in told
