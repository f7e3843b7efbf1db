"""Two small stages, for the tests of what runs them."""

import json

import polars as pl

from build_dataset.pipeline.config import load
from build_dataset.pipeline.runtime import runner as module
from build_dataset.pipeline.runtime.runner import Runner
from build_dataset.pipeline.stage import Counts, Result, Stage
from build_dataset.schemas.base import Record
from build_dataset.schemas.params import Params


class Word(Record):
    text: str


class NoParams(Params):
    pass


def upper(tables, params, context):
    frame = tables["words"].with_columns(pl.col("text").str.to_uppercase())
    return Result({"words": frame}, Counts(frame.height, frame.height))


def stage(name, unit, reads, target, writes=True, **more):
    """A stage that says little of itself."""
    return Stage(name, f"does {name}", unit, reads, {"words": Word} if writes else {}, NoParams, target, **more)


STAGES = (stage("ocr", "files", ("raw/files",), "x:words"), stage("parse", "words", ("ocr/words",), "x:upper"))


def install(monkeypatch, folder, functions, stages=STAGES):
    """Put stages in the place of the catalogue's; return what makes their runner, with overrides by key."""
    monkeypatch.setattr(module, "STAGES", stages)
    monkeypatch.setattr(Stage, "function", lambda self: functions[self.target])
    monkeypatch.setattr(module, "fingerprint", lambda target, params, inputs, seed: json.dumps([params, inputs, seed]))
    (folder / "dataset.toml").write_text('[dataset]\nname = "x"\n')
    return lambda **overrides: Runner(load(folder / "dataset.toml", overrides))
