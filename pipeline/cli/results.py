"""``release``, ``score`` and ``submission``: what comes after a build."""

import sys
from collections import Counter
from importlib.util import find_spec
from pathlib import Path

import typer
from rich.console import Console

from build_dataset.pipeline.api import stage_names
from build_dataset.pipeline.cli.language import translated
from build_dataset.pipeline.cli.report import print_line, print_template, save, shown
from build_dataset.pipeline.config import FILE_NAME, ConfigBase, load
from build_dataset.schemas import data, errors, wording
from build_dataset.schemas.dataset import DatasetParams

_OPEN_LABELS: dict[str, str] = data.shipped_toml("build_dataset.pipeline.cli", "templates/commands.toml")["open_labels"]
"""Statuses of labels that nobody has settled."""


def score(source: Path, out: Path, key: Path | None = None, tables: Path | None = None, strict: bool = False) -> None:
    """Score raw model outputs from a file. No dataset is needed."""
    from build_dataset.pipeline.evaluate.submission import DEFAULT, read_items, score_file, unsure_file, write_rows

    here = Path(FILE_NAME)
    params = load(here).score if here.is_file() else DEFAULT
    params = params.model_copy(update={"strict": True}) if strict else params

    read = {path.resolve() for path in (source, key) if path is not None}  # links and ../ name the same file
    beside = unsure_file(out).resolve() in read
    if beside or any(out.resolve() == path or (out.exists() and path.exists() and out.samefile(path)) for path in read):
        raise errors.UserError(f"--out {out} would replace the file that is read: choose another name")
    if key is None:
        if tables is not None:
            raise errors.UserError("--tables goes with --key: without one there are no categories to score by")
        counts = score_file(source, out, params)
    else:
        from build_dataset.pipeline.evaluate.results import build
        from build_dataset.pipeline.evaluate.submission import score_submission

        scored = score_submission(source, key, params=params)
        counts = write_rows(scored.rows, out)
        for name, table in build.tables(build.Evaluated(scored.scores)):
            print_line(name, "bold")
            print_line(table.markdown())
            if tables is not None:
                for path, content in table.files().items():
                    save(tables / path, content)
        if scored.missing:
            print_line(f"{scored.missing} questions of the key have no answer in {source.name}")
    unsure = list(read_items(unsure_file(out)))
    if unsure:
        print_line(f"{wording.counted(len(unsure), 'output')} read weakly or not at all: {shown(unsure_file(out))}")
    unread = sum(row["extracted"] is None for row in unsure)
    if unread > max(2, counts["rows"] // 20):
        print_line(f"{unread} of {counts['rows']} outputs give no answer that can be read 许多输出未读出答案")
    summary = ", ".join(f"{count} {name.replace('_', ' ')}" for name, count in counts.items())
    print_line(f"{summary}; written to {shown(out)}")


def submission(run: str, out: Path, config: ConfigBase) -> None:
    """Write a model's answers in the format of CMB's leaderboard."""
    from build_dataset.pipeline.evaluate.submission import submission as write
    from build_dataset.pipeline.runtime.publish import built
    from build_dataset.schemas.evaluation import Prediction

    save(out, write(list(Prediction.from_frame(built(config.dataset.build, "evaluate/predictions"))), run))
    print_line(f"written to {shown(out)}")


def release(config: ConfigBase, push: str | None = None, yes: bool = False) -> None:
    """Freeze this export as a release. Its questions keep their splits from now on."""
    there = (config.dataset.releases / config.dataset.version).exists()
    if push is None or not there:
        if not (yes or there):
            _agree(config.dataset)
        _freeze(config)
    if push is not None:
        _push(config.dataset, push, yes=yes)


def _agree(dataset: DatasetParams) -> None:
    """Ask before a release is made after a run that failed, or of labels that experts dispute or have not seen."""
    from build_dataset.pipeline.runtime.publish import find_table, last_runs

    doubts = list[str]()
    last = max(last_runs(dataset.build).values(), key=lambda run: run.started, default=None)
    if last and last.outcome == "failed":
        doubts.append(f"the last run failed at {last.stage} ({wording.minute(last.started)})")
    labels = find_table(dataset.build, "review/labels")
    counts = Counter() if labels is None else Counter(labels["status"])
    if some := ", ".join(f"{counts[status]:,} {name}" for status, name in _OPEN_LABELS.items() if counts[status]):
        doubts.append(f"of {counts.total():,} labels {some}")
    if not doubts:
        return
    if not (sys.stdin.isatty() and typer.confirm(translated(f"{'; '.join(doubts)}; release it as it is?"))):
        raise errors.UserError(
            f"{'; '.join(doubts)}; settle it (`run`, `review status`), or take it so: `build-dataset release --yes`"
        )


def _push(dataset: DatasetParams, repo: str, *, yes: bool) -> None:
    """Print what would be uploaded, or upload it."""
    if find_spec("huggingface_hub") is None:  # an optional package
        raise errors.UserError("--push needs huggingface_hub: pip install huggingface_hub")
    from build_dataset.pipeline.export.release import plan_upload, push_release

    console = Console(stderr=True)
    plan = plan_upload(dataset, repo)
    print_template("upload", {"plan": plan, "repo": repo, "yes": yes}, console)
    if yes:  # a release is public: asked for twice
        address = push_release(dataset, plan)
        print_line(f"✓ {wording.counted(len(plan.files), 'file')} uploaded: {address}", "green", console=console)


def _freeze(config: ConfigBase) -> None:
    from build_dataset.pipeline.export.release import freeze
    from build_dataset.pipeline.runtime.publish import build_lock
    from build_dataset.pipeline.runtime.runner import Runner

    dataset = config.dataset
    with build_lock(dataset.build):
        states, needed = Runner(config).states(), stage_names(None, "export")  # evaluation may lag behind
        facts = freeze(dataset, {name: states[name] for name in needed})
    values = {**facts, "dataset": dataset, "folder": shown(dataset.releases / dataset.version)}
    print_template("release", values, Console(stderr=True))
