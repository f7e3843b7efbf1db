"""Processor time of the dedup stage on generated banks: ``python -m benchmarks.dedup.banks [ROWS] [KIND …]``.

Kinds are zh, en, cases and mixed (four in five English).

English cases are made of phrases that many share, as in banks of one author; a tenth of the questions are copies with a
typing error or other numbers.
"""

import random
import sys
import time
from typing import Any

from benchmarks.dedup.measure import InProcess
from build_dataset.pipeline.dedup.params import DedupParams
from build_dataset.pipeline.dedup.stage import resolve
from build_dataset.schemas.identity import content_hash
from build_dataset.schemas.questions import Option, Question, QuestionType

WHO = ["A {age}-year-old {sex} presents to the {place} with {sign} and {other} for {days} days."]
SIGNS = [
    "fever",
    "cough",
    "chest pain",
    "fatigue",
    "nausea",
    "vomiting",
    "headache",
    "dizziness",
    "palpitations",
    "weight loss",
    "night sweats",
    "diarrhea",
    "abdominal pain",
    "shortness of breath",
    "joint swelling",
    "back pain",
    "rash",
    "itching",
    "blurred vision",
    "numbness",
    "tremor",
    "syncope",
]
TESTS = [
    "Blood pressure is {a}/{b} mmHg and pulse is {c}/min",
    "Laboratory studies show a leukocyte count of {a}00/mm3",
    "An ECG shows ST elevation in leads V{d} and V{e}",
    "Serum sodium is 1{b} mEq/L and potassium is {d}.{e} mEq/L",
    "Examination shows tenderness over the {sign} area and a grade {d} murmur",
    "A CT scan shows a {d}-cm mass.",
]
ASKS = [
    "Which of the following is the most likely diagnosis?",
    "Which of the following is the best next step in management?",
    "What is the most appropriate treatment for this patient?",
    "Which drug is contraindicated in this patient?",
]
PARTS = ["hepatic", "renal", "cardiac", "pulmonary", "gastric", "cerebral", "splenic", "adrenal", "thyroid", "spinal"]
KINDS = [
    "carcinoma",
    "infarction",
    "abscess",
    "stenosis",
    "fibrosis",
    "adenoma",
    "hemorrhage",
    "edema",
    "sarcoma",
    "ischemia",
]
ZH = "心肝脾肺肾胃肠脑骨血管神经肌肉炎症肿瘤出血梗死水肿狭窄感染结核溃疡增生纤维化坏死贫血发热咳嗽疼痛黄疸腹泻便秘"


def english(draw: random.Random) -> tuple[str, list[str]]:
    """Return a stem and options."""
    numbers = {name: draw.randint(1, 9) for name in "de"} | {name: draw.randint(30, 160) for name in "abc"}
    sign, other = draw.sample(SIGNS, 2)
    who = {"age": draw.randint(1, 90), "sex": draw.choice(("man", "woman")), "days": draw.randint(1, 60)}
    start = WHO[0].format(**who, place=draw.choice(("clinic", "emergency department")), sign=sign, other=other)
    told = ". ".join(one.format(sign=draw.choice(SIGNS), **numbers) for one in draw.sample(TESTS, draw.randint(1, 3)))
    options = [f"{draw.choice(PARTS)} {draw.choice(KINDS)} {at}" for at in range(5)]
    return f"{start} {told} {draw.choice(ASKS)}", options


SYLLABLES = [
    "ra",
    "ti",
    "on",
    "al",
    "in",
    "con",
    "ter",
    "ment",
    "pro",
    "is",
    "es",
    "ed",
    "er",
    "ly",
    "ic",
    "ous",
    "ab",
    "dis",
    "car",
    "di",
    "o",
    "pul",
    "mo",
    "nar",
    "y",
    "he",
    "pa",
    "ren",
    "gas",
    "tro",
]
SMALL = [
    "the",
    "of",
    "and",
    "a",
    "in",
    "is",
    "with",
    "for",
    "to",
    "on",
    "at",
    "by",
    "an",
    "from",
    "was",
    "are",
    "his",
    "her",
    "which",
    "that",
    "has",
    "following",
    "most",
    "patient",
]


def varied(draw: random.Random) -> tuple[str, list[str]]:
    """Return a stem and options in words that other questions seldom share."""
    words = ["".join(random.Random(at).choices(SYLLABLES, k=2 + at % 3)) for at in _ranks(draw, 60)]
    stem = " ".join(
        draw.choice(SMALL) if draw.random() < 0.45 else draw.choice(words) for _ in range(draw.randint(20, 110))
    )
    return f"{stem}? {draw.choice(ASKS)}", [" ".join(draw.sample(words, draw.randint(1, 4))) for _ in range(5)]


def _ranks(draw: random.Random, count: int) -> list[int]:
    """Return ranks of words as texts have them: the first often, the last seldom."""
    return [int(3000 ** draw.random()) for _ in range(count)]


def chinese(draw: random.Random) -> tuple[str, list[str]]:
    """Return a stem and options."""
    stem = "".join(draw.choices(ZH, k=draw.randint(8, 40))) + draw.choice(
        ("最可能的诊断是", "下列哪项正确", "首选的治疗是")
    )
    return stem, ["".join(draw.choices(ZH, k=draw.randint(2, 8))) for _ in range(5)]


_MIXTURE = ("en", "en", "en", "en", "zh")  # mostly English


def questions(count: int, language: str) -> list[Question]:
    """Return generated questions."""
    draw, made = random.Random(language), list[Question]()
    for number in range(count):
        kind = draw.choice(_MIXTURE) if language == "mixed" else language
        stem, options = {"en": varied, "cases": english, "zh": chinese}[kind](draw)
        if made and draw.random() < 0.1:
            other = draw.choice(made)
            at = draw.randrange(len(other.stem) - 1)
            stem, options = other.stem[:at] + other.stem[at + 1 :], [one.text for one in other.options]
        made.append(
            Question(
                question_id=f"r-{number:06}",
                document="bank.csv",
                section=None,
                number=number,
                question_type=QuestionType.A1,
                stem=stem,
                options=[Option(label=chr(65 + at), text=text) for at, text in enumerate(options)],
                answer=[draw.choice("ABCDE")],
                content_hash=content_hash(stem, options, None),
            )
        )
    return made


def main() -> None:
    """Print the time of each language; ``cases`` are English questions of one template, of which most are related."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 5000
    for language in sys.argv[2:] or ("zh", "en"):
        frame = Question.to_frame(questions(count, language))
        start = time.process_time()
        found: Any = resolve(frame, DedupParams(), InProcess(1))  # type: ignore[arg-type]
        took = time.process_time() - start
        told = f"{len(found.merges)} merges, {len(found.edges)} edges"
        print(f"{language} {count:,} questions: {took:.1f} s, {count / took:,.0f} rows/s, {told}", flush=True)


if __name__ == "__main__":
    main()
