"""The wheel: one import name, everything inside."""

import importlib.util
import subprocess
import sys
import zipfile

import pytest

from hatch_build import nested
from tests.conftest import ROOT


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        ("from schemas.errors import UserError\n", "from build_dataset.schemas.errors import UserError\n"),
        (
            "    from pipeline.rendering import html\n",
            "    from build_dataset.pipeline.rendering import html\n",
        ),
        ('files("schemas") / "x"', 'files("build_dataset.schemas") / "x"'),
        ('target="pipeline.clean.stage:run"', 'target="build_dataset.pipeline.clean.stage:run"'),
        ('("schemas", "pipeline")', '("schemas", "pipeline")'),
        ("import polars\nschemas = 1\n", "import polars\nschemas = 1\n"),
    ],
)
def test_imports_and_names_of_our_modules_move_below_one_name(ours, theirs):
    assert nested(ours) == theirs


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """A folder with the unpacked wheel."""
    if importlib.util.find_spec("hatchling") is None or importlib.util.find_spec("pip") is None:
        pytest.skip("hatchling builds the wheel")
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation"]
    subprocess.run([*command, "--wheel-dir", folder, ROOT], check=True, capture_output=True)
    (wheel,) = folder.glob("*.whl")
    zipfile.ZipFile(wheel).extractall(folder / "site")
    return folder / "site"


def test_the_wheel_takes_one_name_and_is_typed(installed):
    assert sorted(path.name for path in installed.iterdir() if path.suffix != ".dist-info") == [
        "build_dataset"
    ]
    assert (installed / "build_dataset" / "py.typed").exists()
    assert (installed / "build_dataset" / "sample" / "truncated.pdf").exists()


def test_the_installed_command_builds_a_paper_without_the_repository(installed, tmp_path):
    (tmp_path / "raw").mkdir()
    (tmp_path / "raw" / "paper.txt").write_text("1. 下列正确的是\nA. 甲\nB. 乙\n答案：A\n", encoding="utf-8")
    (tmp_path / "dataset.toml").write_text('[dataset]\nname = "x"\n[executor]\nworkers = 1\n')
    script = (
        f"import sys; sys.path.insert(0, {str(installed)!r}); import build_dataset; "
        "made = build_dataset.build('dataset.toml', last='dedup'); print(made['dedup']['counts']['in']); "
        "print({name.partition('.')[0] for name in sys.modules} & {'schemas', 'pipeline', 'annotation'})"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, timeout=900
    )
    assert done.stdout.split() == ["1", "set()"], done.stderr


def test_code_of_the_installed_package_is_part_of_fingerprints(installed):
    module = "build_dataset.pipeline.clean.stage"
    script = (
        f"import sys; sys.path.insert(0, {str(installed)!r}); "
        "from build_dataset.pipeline.runtime.fingerprint import _closure; "
        f"found = _closure({module!r}); print({module!r} in found, 'build_dataset.schemas.questions' in found)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=900)
    assert done.stdout.split() == ["True", "True"], done.stderr


def test_the_installed_command_line_speaks(installed, tmp_path):
    script = (
        f"import sys; sys.path.insert(0, {str(installed)!r}); import build_dataset; "
        "sys.argv[1:] = ['init', 'x']; build_dataset.main()"
    )
    told = subprocess.run([sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True)
    assert "made x/dataset.toml" in told.stdout, told.stderr
