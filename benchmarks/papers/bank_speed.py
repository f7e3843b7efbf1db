"""Rows of banks that are read in a second of processor time: ``python -m benchmarks.papers.bank_speed [ROWS]``.

Banks of three shapes (a column for each option, an object, one text) in Chinese and English are generated and read by
their mapping, without processes.
"""

import json
import random
import sys
import time
from collections.abc import Mapping

from build_dataset.pipeline.parse.rows import RowError, sources_of
from build_dataset.pipeline.runtime.runner import relaxed_gc
from build_dataset.schemas.documents import Document, SourceRow

ZH = (
    "患者主诉反复咳嗽发热乏力头痛恶心呕吐腹泻心悸气短水肿黄疸贫血出血疼痛肿块检查提示治疗首选药物诊断机制并发症部位特点"
)
EN = [
    "patient",
    "presents",
    "with",
    "fever",
    "cough",
    "fatigue",
    "headache",
    "nausea",
    "severe",
    "acute",
    "chronic",
    "pain",
    "swelling",
    "blood",
    "pressure",
    "renal",
    "hepatic",
    "cardiac",
    "lung",
    "lesion",
    "biopsy",
    "shows",
    "most",
    "likely",
    "treatment",
    "diagnosis",
    "mechanism",
    "complication",
    "following",
    "drug",
]


def words(random_: random.Random, chinese: bool, least: int, most: int) -> str:
    """Return a random text of so many words or characters."""
    size = random_.randint(least, most)
    return "".join(random_.choices(ZH, k=3 * size)) if chinese else " ".join(random_.choices(EN, k=size))


def rows(count: int, chinese: bool, shape: str) -> list[SourceRow]:
    """Return the rows of a generated bank."""
    random_, made = random.Random(f"{chinese} {shape}"), []
    for number in range(1, count + 1):
        stem = words(random_, chinese, 8, 40) + ("，最可能的是" if chinese else ", which is it?")
        options = {label: words(random_, chinese, 1, 6) + str(at) for at, label in enumerate("ABCDE")}
        key = random_.choice("ABCDE")
        why = f"{words(random_, chinese, 10, 60)}。" + (f"故选{key}。" if chinese else f" Therefore {key} is correct.")
        fields: dict[str, str | Mapping[str, str]] = {"question": stem, "answer": key, "explanation": why}
        if shape == "columns":
            fields |= {f"op{label.lower()}": text for label, text in options.items()}
        else:
            text = "\n".join(f"{label}. {text}" for label, text in options.items())
            fields["options"] = text if shape == "text" else options
        made.append(SourceRow(document="bank.jsonl", row=number, fields=json.dumps(fields, ensure_ascii=False)))
    return made


def main() -> None:
    """Print a line for each language and shape."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 5000
    document = Document(document="bank.jsonl", sha256="0" * 64, format="jsonl", pages=None, rows=count)
    for chinese in (True, False):
        for shape in ("columns", "object", "text"):
            given = rows(count, chinese, shape)
            start = time.process_time()
            with relaxed_gc():  # as the runner does
                (source,) = sources_of(given, document, {})
            took = time.process_time() - start
            kept = sum(not isinstance(found, RowError) and not found[1] for _, found in source.rows)
            language = "Chinese" if chinese else "English"
            print(
                f"{language:8} {shape:8} {count:6,} rows, {kept:6,} sound: {took:6.2f} s, {count / took:7,.0f} rows/s"
            )


if __name__ == "__main__":
    main()
