"""The notebook of the Python API runs as it stands."""

import json

from tests.conftest import ROOT

PAPER = "一、单项选择题\n1. 下列哪项正确\nA. 甲\nB. 乙\nC. 丙\nD. 丁\n答案：A\n"


def test_every_cell_runs_and_shows_the_questions(tmp_path, monkeypatch, capsys):
    (tmp_path / "raw").mkdir()
    (tmp_path / "raw" / "paper.txt").write_text(PAPER, encoding="utf-8")
    (tmp_path / "dataset.toml").write_text('[dataset]\nname = "x"\n[executor]\nworkers = 1\n')
    monkeypatch.chdir(tmp_path)
    notebook = json.loads((ROOT / "docs" / "api.ipynb").read_text(encoding="utf-8"))
    cells = ["".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "code"]
    namespace: dict[str, object] = {}
    for cell in cells:
        exec(cell, namespace)  # our own text
    assert "'dedup': {" in capsys.readouterr().out
    rejects = namespace["table"]("dataset.toml", "clean/rejects")
    assert rejects["reason"].to_list() == ["too_few_options"]
