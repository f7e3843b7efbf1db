"""Other people's formats: CMB's JSON, CMExam's CSV, task files with the questions and prompts of ``evaluate``."""

import io
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.resources import files
from string import Template

import polars as pl

from build_dataset.pipeline.evaluate.prompting import Template as Prompts, is_multiple, load_template, messages
from build_dataset.pipeline.evaluate.scoring import accepted_answers
from build_dataset.schemas import columns, data, questions, release
from build_dataset.schemas.dataset import DatasetParams
from build_dataset.schemas.taxonomy import DIFFICULTY, dimensions

WORDS = data.shipped_toml("build_dataset.pipeline.export", "words.toml")
TASKS: Mapping[str, Mapping[str, str]] = WORDS["tasks"]
"""The files that each tool wants, by path under ``tasks/``, and what they are made from in ``handover/``."""
_HANDOVER = files("build_dataset.pipeline.export") / "handover"


def task_files(dataset: DatasetParams, splits: Mapping[str, pl.DataFrame], wanted: tuple[str, ...]) -> dict[str, bytes]:
    """Return the files by path, with the questions that all of them read; none where no tool is wanted."""
    if not wanted:
        return {}
    rows = {name: list(release.ReleaseRow.from_frame(frame)) for name, frame in splits.items() if frame.height}
    prompts = load_template("answer_only")  # as `evaluate` asks by default
    made = {f"tasks/questions/{name}.jsonl": _questions(prompts, split) for name, split in rows.items()}
    letters = {option.label for split in rows.values() for row in split for option in row.options}
    values = {
        "name": task_name(dataset.name),
        "title": re.sub(r'[\s"\\]+', " ", dataset.title or dataset.name),
        "version": dataset.version,
        "choices": ", ".join(f'"{letter}": "{{prompt}}\\n{letter}"' for letter in sorted(letters)),
        "max_tokens": "1024",  # of an answer in text, as `evaluate` has it
        "fewshot": "fewshot_split: validation\nfewshot_config:\n  sampler: first_n\n" if "validation" in rows else "",
    }
    for path, source in (item for tool in wanted for item in TASKS[tool].items()):
        template = Template((_HANDOVER / f"{source}.tmpl").read_text(encoding="utf-8"))
        made[f"tasks/{path.format(**values)}"] = template.substitute(values).encode()
    if "opencompass" in wanted and "test" in rows:
        # Its configurations may run no code, so that the questions with one answer get files of their own.
        single = [row for row in rows["test"] if not is_multiple(row)]
        made[f"tasks/opencompass/{values['name']}.jsonl"] = _questions(prompts, single)
    return made


def task_name(name: str) -> str:
    """Return the dataset's name as the name of a Python module."""
    module = re.sub(r"\W+", "_", name, flags=re.ASCII).strip("_").lower()  # "CMB 2024" → "cmb_2024"
    return module if module and not module[0].isdigit() else f"exam_{module}".rstrip("_")  # "执医" → "exam"


def _questions(prompts: Prompts, rows: list[release.ReleaseRow]) -> bytes:
    """Return the questions with a key, one JSON object a line, as ``evaluate`` puts them."""
    lines = []
    for row in rows:
        if not accepted_answers(row) or not row.answer:  # nothing to grade by
            continue
        asked, target = (turn["content"] for turn in messages(prompts, row, [row])[-3:-1])
        item = {
            "id": row.question_id,
            "prompt": asked,
            "letters": [option.label for option in row.options],
            "answer": "".join(row.answer),
            "accepted": sorted("".join(sorted(answer)) for answer in accepted_answers(row)),
            "several": is_multiple(row),
            "stem": row.stem,
            "options": {option.label: option.text for option in row.options},
            "target": target,
        }
        lines.append(json.dumps(item, ensure_ascii=False) + "\n")
    return "".join(lines).encode()


SINGLE, MULTIPLE = "单项选择题", "多项选择题"  # CMB's two values of `question_type`


@dataclass(frozen=True)
class Format:
    """A format that others read, beside the Parquet files."""

    option: str  # the option of `[export]` that it can be left out with
    path: str  # of a split's file, with `{split}`
    media_type: str  # for metadata such as Croissant's
    write: Callable[[pl.DataFrame], bytes]  # a split's rows (`ReleaseRow`) as the file
    about: str  # its line in the card, in Markdown


def question_text() -> pl.Expr:
    """The question as one text: the case of its group, if it has one, and its own stem on the next line."""
    return pl.concat_str("shared_stem", "stem", separator="\n", ignore_nulls=True)


def cmb_json(rows: pl.DataFrame) -> bytes:
    """Return a split as CMB has it: objects with CMB's own keys, one a line; absent exam names are null."""
    exam, lines = ("exam_type", "exam_class", "exam_subject"), []
    for row in rows.with_columns(question=question_text()).iter_rows(named=True):
        several = row["question_type"] in questions.SEVERAL_ANSWERS or len(row["answer"]) > 1  # an A1 with two keys too
        item = {
            "id": row["question_id"],
            **{name: row[name] for name in exam},
            "question": row["question"],
            "answer": "".join(row["answer"]),
            "question_type": MULTIPLE if several else SINGLE,
            "option": {option["label"]: option["text"] for option in row["options"]},
        }
        item |= {} if row["explanation"] is None else {"explanation": row["explanation"]}
        lines.append(json.dumps(item, ensure_ascii=False))
    return ("[\n" + ",\n".join(lines) + "\n]\n" if lines else "[]\n").encode()


def cmexam_csv(rows: pl.DataFrame) -> bytes:
    """Return a split with CMExam's columns, UTF-8 without a mark; what spreadsheets would run is ``guarded``.

    ``Question, Options, Answer, Explanation`` and the dimensions of the label set. Options are lines ``A text``, a line
    break inside one a space, as CMExam's readers want it. Labels are Chinese, difficulty is 1 (easy) to 5.
    """
    option = pl.element().struct.field("text").str.replace_all(r"\s*[\r\n]+\s*", " ")
    labels, names = {name: pl.col(name) for name in dimensions()}, WORDS["cmexam"]
    if DIFFICULTY in labels:
        levels = {label.zh: level for level, label in enumerate(dimensions()[DIFFICULTY].labels, start=1)}
        labels[DIFFICULTY] = pl.col(DIFFICULTY).replace_strict(levels, default=None, return_dtype=pl.Int64)
    line = pl.concat_str(pl.element().struct.field("label"), option, separator=" ")
    frame = rows.select(
        Question=question_text(),
        Options=pl.col("options").list.eval(line).list.join("\n"),
        Answer=pl.col("answer").list.join(""),
        Explanation=pl.col("explanation"),
        **{names.get(name, name): label for name, label in labels.items()},
    )
    target = io.BytesIO()
    text = pl.col(pl.String).map_elements(columns.guarded, return_dtype=pl.String, skip_nulls=True)
    frame.with_columns(text).write_csv(target, quote_style="non_numeric")
    return target.getvalue()


FORMATS = (
    Format("cmb_json", "cmb/{split}.json", "application/json", cmb_json, WORDS["formats"]["cmb_json"]),
    Format("cmexam_csv", "cmexam/{split}.csv", "text/csv", cmexam_csv, WORDS["formats"]["cmexam_csv"]),
)
"""To add one: a function from a split's rows to bytes, a row here, and an option of its name in ``params``."""
