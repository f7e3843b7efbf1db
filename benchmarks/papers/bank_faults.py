"""Banks with one systematic fault each: how many faults stay silent, and how many sound banks are doubted.

``python -m benchmarks.papers.bank_faults DATA [SOURCES] [SEED]``: DATA is the folder of real data; its questions are
written into tables with headers, shapes and columns drawn by chance, and one of the faults: a text that every question
repeats, a passage in a column of any name, a foreign column, keys of the next question, explanations that list wrong
options, pictures named in a column; or none.
"""

import json
import random
import re
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from build_dataset.pipeline.parse.columns import Unclear
from build_dataset.pipeline.parse.rows import SourceTable, sources_of
from build_dataset.schemas.documents import Document, SourceRow

Item = dict[str, Any]  # stem, options, key, explanation
ROWS = 60
STEMS = ("question", "题目", "stem", "题干", "problem", "试题内容", "topic", "Question")
PASSAGES = [
    "passage",
    "context",
    "case",
    "vignette",
    "材料",
    "背景",
    "病例",
    "text",
    "article",
    "premise",
    "scenario",
    "content",
    "story",
    "clinical_case",
    "资料",
    "intro",
    "xq1",
    "col_b",
    "wert",
    "栏一",
    "k2",
    "data_field",
    "附文",
    "lead",
    "abc",
    "补充",
]
FURNITURE = (
    "点我看解答▼",
    "Tap to reveal",
    "本站整理发布",
    "＞＞收起",
    "No comments yet",
    "【收录完毕】",
    "quizhub.example",
)
EXTRA = ("remark", "model_output", "tags", "出处", "difficulty", "col9", "翻译", "zz", "updated_at", "url")


def items_of(data: Path) -> dict[str, list[Item]]:
    """Return real questions in Chinese and English."""
    found: dict[str, list[Item]] = {"zh": [], "en": []}
    for line in (data / "cmexam" / "val_dev.jsonl").read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        options = dict(re.findall(r"(?m)^([A-E]) (.+)$", row["Options"]))
        if len(options) == 5 and len(row["Answer"]) == 1 and len(row["Question"]) > 8:
            item = {"stem": row["Question"], "options": options, "key": row["Answer"]}
            found["zh"].append(item | {"explanation": row.get("Explanation") or "见教材。"})
    for line in (data / "banks_round3" / "truth.jsonl").read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        if row["file"].startswith(("medb", "mediq", "medx")) and len(row["ans"]) == 1:
            options = {chr(65 + at): text for at, text in enumerate(row["opts"])}
            stem = row["stem"].replace("Figure", "figure")
            found["en"].append({"stem": stem, "options": options, "key": row["ans"][0], "explanation": "See the book."})
    return found


def shaped(item: Item, shape: str, header: str) -> Item:
    """Return the fields of a question: options in columns, an object, a list or one text."""
    fields: Item = {header: item["stem"]}
    if shape == "columns":
        fields |= {f"选项{label}": text for label, text in item["options"].items()}
    elif shape == "list":
        fields["options"] = [*item["options"].values()]
    elif shape == "flags":
        fields["answers"] = {
            label.lower(): {"content": text, "correct": label == item["key"]} for label, text in item["options"].items()
        }
        return fields | {"explanation": item["explanation"]}
    elif shape == "wrapped":
        fields["response_points"] = [{"radio": {"text": text, "val": one}} for one, text in item["options"].items()]
    else:
        text = "\n".join(f"{label}. {text}" for label, text in item["options"].items())
        fields["options"] = item["options"] if shape == "object" else text
    return fields | {"answer": item["key"], "explanation": item["explanation"]}


def _sentences(text: str) -> list[str]:
    parts = re.split(r"(?<=[。?？])\s*(?=\S)|(?<=[a-z][.?])\s+(?=[A-Z])", text)
    return parts if len("".join(parts[:-1])) >= 20 else [text]


class Bank:
    """A bank of real questions, with what must be read from each row."""

    def __init__(self, draw: random.Random, items: list[Item], language: str, *, cases: bool = False) -> None:
        self.draw, self.language = draw, language
        if cases:  # of several sentences
            items = [one for one in items if len(_sentences(one["stem"])) > 1]
        self.items = draw.sample(items, min(ROWS, len(items)))
        if draw.random() < 0.6:
            said = ("故选{}。", "综上，答案为{}。") if language == "zh" else (" Therefore, the answer is {}.",)
            told = draw.choice(said)
            self.items = [one | {"explanation": one["explanation"] + told.format(one["key"])} for one in self.items]
        self.header = draw.choice(STEMS)
        self.shape = draw.choice(("columns", "object", "list", "text", "flags", "wrapped"))
        self.rows = [shaped(one, self.shape, self.header) for one in self.items]
        self.figures: set[int] = set()

    def add(self, name: str, values: list[Any]) -> None:
        """Add a column, at the beginning or the end."""
        first = self.draw.random() < 0.5
        pairs = zip(self.rows, values, strict=True)
        self.rows = [{name: value, **row} if first else {**row, name: value} for row, value in pairs]


def sound(bank: Bank) -> None:
    """Add columns that belong to no question."""
    for name in bank.draw.sample(EXTRA, 2):
        bank.add(
            name, [bank.draw.choice(("易", "中", "难", "2021-03", "https://a.example/1", "内科")) for _ in bank.rows]
        )


def furniture(bank: Bank) -> None:
    """Write one text at the same place of every question."""
    text, place = bank.draw.choice(FURNITURE), bank.draw.choice(("stem", "option", "start"))
    for row, item in zip(bank.rows, bank.items, strict=True):
        last = max(item["options"])
        if place == "stem":
            row[bank.header] += ("" if row[bank.header].endswith(("?", "？", ")", "）")) else "？") + " " + text
        elif place == "start":
            row[bank.header] = f"【{text}】{row[bank.header]}"
        else:
            options = item["options"] | {last: f"{item['options'][last]} {text}"}
            row |= shaped(item | {"options": options}, bank.shape, bank.header) | {bank.header: row[bank.header]}


def passage(bank: Bank) -> None:
    """Move the first sentences of each stem into a column of its own."""
    name, form = (
        bank.draw.choice([one for one in PASSAGES if one != bank.header]),
        bank.draw.choice(("str", "list", "object")),
    )
    values: list[Any] = []
    kept = []
    for row, item in zip(bank.rows, bank.items, strict=True):
        parts = _sentences(item["stem"])
        kept.append((row | {bank.header: parts[-1]}, item))
        said = parts[:-1] if form == "list" else "".join(parts[:-1])
        values.append({"body": said} if form == "object" else said)
    bank.rows, bank.items = [row for row, _ in kept], [item for _, item in kept]
    bank.add(name, values)


def foreign(bank: Bank) -> None:
    """Add a column of letters, or of texts, that is somebody's answer."""
    name = bank.draw.choice(("user_answer", "gpt4", "我的答案", "column_x", "prediction", "易错项"))
    letters = [bank.draw.choice("ABCDE") for _ in bank.rows]
    texts = bank.draw.random() < 0.5
    values = [item["options"].get(one, "") if texts else one for one, item in zip(letters, bank.items, strict=True)]
    bank.add(name, values)


def shifted(bank: Bank) -> None:
    """Give every question the key of the next one; explanations conclude the right one."""
    told = "故选{}。" if bank.language == "zh" else " The answer is {}."
    keys = [item["key"] for item in bank.items]
    for row, item, key in zip(bank.rows, bank.items, keys[1:] + keys[:1], strict=True):
        row |= {"answer": key, "explanation": "见教材。" + told.format(item["key"])}


def style(bank: Bank) -> None:
    """Write explanations that list the wrong options."""
    form = bank.draw.choice(
        ("Answer {}: {} is seen in other diseases.", "答案{}：{}见于其他疾病。", "{}对应：{}。", "选{}者：误认为{}。")
    )
    for row, item in zip(bank.rows, bank.items, strict=True):
        wrong = [label for label in item["options"] if label != item["key"]][: bank.draw.randint(1, 4)]
        row["explanation"] = "\n".join(form.format(label, item["options"][label]) for label in wrong)


def pictures(bank: Bank) -> None:
    """Name the pictures of a third of the questions in a column."""
    name = bank.draw.choice(("attachment", "img", "pic_path", "fj", "media", "图", "resource"))
    values: list[Any] = []
    for at in range(len(bank.rows)):
        shown = bank.draw.random() < 0.35
        bank.figures |= {at} if shown else set()
        values.append(bank.draw.choice((f"img/{at}.png", [f"{at}.jpg"])) if shown else bank.draw.choice(("", None)))
    bank.add(name, values)


def words(bank: Bank) -> None:
    """Let the texts of one row's options begin with the letters A, B, C … as words do: A 型肝炎."""
    bank.shape = "list"
    for row, item in zip(bank.rows, bank.items, strict=True):
        row.clear()
        row.update(shaped(item, bank.shape, bank.header))
    item = bank.items[0] | {"options": {label: f"{label} 型病毒" for label in bank.items[0]["options"]}}
    bank.items[0] = item
    bank.rows[0] = shaped(item, bank.shape, bank.header)


def repeated(bank: Bank) -> None:
    """Repeat the stem in a column of passages."""
    bank.add("material", [item["stem"] for item in bank.items])


FAULTS: dict[str, Callable[[Bank], None]] = {
    "sound": sound, "furniture": furniture, "passage": passage, "foreign": foreign, "shifted": shifted, "style": style,
    "pictures": pictures, "words": words, "repeated": repeated,
}  # fmt: skip


def read(bank: Bank) -> SourceTable:
    """Read the rows of a bank."""
    rows = [
        SourceRow(document="bank.jsonl", row=at, fields=json.dumps(row, ensure_ascii=False))
        for at, row in enumerate(bank.rows, 1)
    ]
    document = Document(document="bank.jsonl", sha256="0" * 64, format="jsonl", pages=None, rows=len(rows))
    return sources_of(rows, document, {})[0]


def bare(text: str) -> str:
    """Return a text without space."""
    return re.sub(r"[\s（）()_]+|^\d+[.、]", "", text)


def judge(bank: Bank, table: SourceTable) -> Counter[str]:
    """Count the rows that are right, wrong, or wait."""
    ends: Counter[str] = Counter(rows=len(bank.rows))
    if isinstance(table.columns, Unclear):
        return ends + Counter(stopped=1, waiting=len(bank.rows))
    caught = table.caught()
    ends["doubts"] = len(caught.doubts)
    kept = {one.question.number: one.question for one in caught.readings if not one.doubts}
    for at, item in enumerate(bank.items):
        question = kept.get(at + 1)
        if question is None:
            ends["waiting"] += 1
            continue
        right = (
            bare(f"{question.shared_stem or ''}{question.stem}") == bare(item["stem"])
            and [bare(one.text) for one in question.options] == [bare(text) for text in item["options"].values()]
            and question.answer == [item["key"]]
            and bool(question.attachments) == (at in bank.figures)
        )
        ends["right" if right else "wrong"] += 1
    return ends


def main() -> None:
    """Print a line for each fault."""
    data, count = Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 210
    draw = random.Random(int(sys.argv[3]) if len(sys.argv) > 3 else 1)
    items = items_of(data)
    total: dict[str, Counter[str]] = {name: Counter() for name in FAULTS}
    for at in range(count):
        name = [*FAULTS][at % len(FAULTS)]
        language = draw.choice(("zh", "zh", "en"))
        bank = Bank(draw, items[language], language, cases=name == "passage")
        FAULTS[name](bank)
        table = read(bank)
        ends = judge(bank, table)
        silent = ends["wrong"] > 0
        total[name] += ends + Counter(sources=1, silent=int(silent), doubted=int(ends["doubts"] + ends["stopped"] > 0))
        if silent or (name in ("sound", "pictures") and (ends["doubts"] or ends["stopped"] or ends["waiting"] > 6)):
            unclear = isinstance(table.columns, Unclear)
            told = table.columns.detail if isinstance(table.columns, Unclear) else str(table.columns.facts())
            doubts = [] if unclear else [one.detail[:160] for one in table.caught().doubts]
            print(f"{name} {language} {dict(ends)} {[*bank.rows[0]]} {told[:250]} {doubts}")
    for name, ends in total.items():
        print(f"{name:10}", dict(sorted(ends.items())))


if __name__ == "__main__":
    main()
