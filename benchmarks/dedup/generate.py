"""Make copies and twins of real questions whose truth is known.

A question's ``truth`` says which question it is: copies of one question share it, twins have one of their own.
Questions for sizes beyond the given ones come from renamings: the characters that carry content are permuted, so
that the lengths, set phrases and numbers of real questions stay and the words are new.
"""

from __future__ import annotations

import json
import random
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import count, islice, pairwise
from pathlib import Path

from benchmarks.dedup.styles import HELD_OUT_COPIES, HELD_OUT_TWINS, Maker, with_texts
from build_dataset.pipeline.dedup.keys import ASKED, FILLER, FUNCTION, OPPOSITES
from build_dataset.pipeline.dedup.misreading import look_alike
from build_dataset.schemas.identity import content_hash
from build_dataset.schemas.questions import Option, Question, QuestionType

COPIES = ("exact", "reordered", "reworded", "noise1", "noise3", "noise5")
TWINS = ("negation", "number", "unit", "sex", "age", "term", "word", "right_option")


def _pairs(*lines: str) -> tuple[tuple[str, str], ...]:
    """``old>new`` pairs; nothing after the sign drops the old words."""
    return tuple((old, new) for line in lines for old, _, new in (pair.partition(">") for pair in line.split()))


_FLIPS = _pairs(
    "不正确>正确 错误>正确 不属于>属于 不包括>包括 不是>是 不宜>宜 不会>会 不能>能 不应>应",
    "正确>错误 属于>不属于 包括>不包括 最可能>最不可能 可见>不见",
)
_REWORDINGS = _pairs(
    "错误的是>不正确的是 不正确的是>错误的是 哪项是错误的>不正确的是 下列>以下 以下>下列 关于>有关",
    "患者，男，>男性患者， 患者，女，>女性患者， 男，>患者男性， 女，>患者女性， 叙述>说法 属于>属 称为>叫做",
    "最可能的诊断是>应首先考虑的诊断是 应首先考虑的是>最可能的是 病人>患者 患者>病人 除外>不包括",
    "应首选>首选 主要>最主要 出现>发生 常见>多见 的是>的为 是>为 ，> 的>",
)
_UNITS = (
    ("mg", "g"),
    ("小时", "分钟"),
    ("天", "周"),
    ("周", "个月"),
    ("年", "个月"),
    ("ml", "L"),
    ("cm", "mm"),
    ("g/L", "mg/L"),
)
_WORDS = re.compile("|".join([FILLER, *sorted(ASKED), "[0-9A-Za-z]+", *(f"[{pair}]" for pair in sorted(OPPOSITES))]))
_IDEOGRAPH = re.compile("[\u4e00-\u9fff]")
_TERM = re.compile("[\u4e00-\u9fff]{2,8}")


@dataclass(frozen=True)
class Made:
    """A question, what was done to make it, and which question it is."""

    question: Question
    how: str
    base: str
    truth: str


def read_questions(path: Path) -> list[Question]:
    """Questions of a CMExam JSONL file (``Question``, ``Options`` of lines ``A text``, ``Answer``)."""
    made = []
    for line in path.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        split = [re.match(r"([A-Z])\s+(.+)", option) for option in row["Options"].split("\n")]
        options = [Option(label=found[1], text=found[2]) for found in split if found]
        letters = re.findall("[A-Z]", row["Answer"])
        stem = row["Question"]
        made.append(
            Question(
                question_id=f"base-r{row['row']:06d}",
                document=path.name,
                section=None,
                number=row["row"],
                question_type=QuestionType.X if len(letters) > 1 else QuestionType.A1,
                stem=stem,
                options=options,
                answer=letters or None,
                explanation=row.get("Explanation"),
                content_hash=content_hash(stem, [option.text for option in options]),
            )
        )
    return made


def generate(bases: list[Question], size: int, seed: int, *, mixed: bool = False) -> Iterator[Made]:
    """``size`` questions: bases, and one of each kind of copy and twin that a base allows; one at a time in memory.

    Args:
        bases: distinct questions.
        size: how many.
        seed: of the draw.
        mixed: see ``in_sources``.
    """
    rng = random.Random(seed)
    made = islice(families(bases, rng), size)
    return in_sources(made, alphabet_of(bases), random.Random(seed + 1)) if mixed else made


def families(bases: list[Question], rng: random.Random) -> Iterator[Made]:
    """Bases, each with its copies and twins; then the same of renamed ones, without end."""
    alphabet = alphabet_of(bases)
    for replica in count():
        rename = renaming(replica, alphabet)
        named = bases if replica == 0 else [renamed(base, replica, rename) for base in bases]
        terms, words = Terms(named), Words(named)
        for base in named:
            yield Made(base, "base", base.question_id, base.question_id)
            yield from _family(base, named, alphabet, (terms, words), rng)


def alphabet_of(bases: list[Question]) -> list[str]:
    """The ideographs of the stems."""
    return sorted({char for base in bases for char in base.stem if _IDEOGRAPH.match(char)})


def in_sources(made: Iterable[Made], alphabet: list[str], rng: random.Random) -> Iterator[Made]:
    """The questions as a bank has them that mixes sources: a table, a text layer, a scan.

    Only the scan misreads, whatever else was done to the question: 1 % of its characters, and its twins' too. It is
    unsure of half of what it read. What was made as a misreading stands in the scan already.
    """
    for item in made:
        question = item.question
        source = rng.choice(("table", "text layer", "scan")) if question.confidence is None else "scan"
        if source == "scan" and question.confidence is None:
            unsure = rng.random() < 0.5
            read = _noisy(question, 0.01, alphabet, rng) if unsure else question
            question = read.model_copy(update={"confidence": 0.9 if unsure else 0.98})
        question = question.model_copy(update={"document": source})
        yield Made(question, item.how, item.base, item.truth)


def _family(
    base: Question, bases: list[Question], alphabet: list[str], known: tuple[Terms, Words], rng: random.Random
) -> Iterator[Made]:
    name, (terms, words) = base.question_id, known
    makers: dict[str, Maker] = {
        "exact": _typeset,
        "reordered": _reordered,
        "reworded": _reworded,
        "noise1": lambda base, rng: _noisy(base, 0.01, alphabet, rng),
        "noise3": lambda base, rng: _noisy(base, 0.03, alphabet, rng),
        "noise5": lambda base, rng: _noisy(base, 0.05, alphabet, rng),
        "variant": lambda base, rng: _other_options(base, bases, rng),
        **HELD_OUT_COPIES,
    }
    twins: dict[str, Maker] = {
        "negation": lambda base, _: _stem(base, _swapped(base.stem, _FLIPS)),
        "number": lambda base, rng: _stem(base, _renumbered(base.stem, r"[0-9]+(?![0-9]*岁)", rng)),
        "unit": lambda base, _: _stem(base, _unit_changed(base.stem)),
        "sex": lambda base, _: _stem(base, base.stem.translate(str.maketrans("男女", "女男"))),
        "age": lambda base, rng: _stem(base, _renumbered(base.stem, r"[0-9]+(?=岁)", rng)),
        "term": lambda base, rng: _keyed_otherwise(terms.exchanged(base, rng), rng),
        "word": lambda base, rng: _stem(base, words.exchanged(base.stem, rng, alike=True)),
        "right_option": lambda base, rng: _right_option(base, words, rng),
        **HELD_OUT_TWINS,
    }
    for kind in rng.sample(list(makers), 5):
        if (question := makers[kind](base, rng)) is not None:
            truth = f"{name}#variant" if kind == "variant" else name
            yield Made(_named(question, f"{name}~{kind}"), kind, name, truth)
    shuffled = [(kind, twins[kind](base, rng)) for kind in rng.sample(list(twins), len(twins))]
    for kind, question in [pair for pair in shuffled if pair[1] is not None][:2]:
        yield Made(_named(question, f"{name}~{kind}"), kind, name, f"{name}#{kind}")
    if rng.random() < 0.04:
        yield Made(_named(_other_key(base, rng), f"{name}~conflict"), "conflict", name, name)


def _named(question: Question, name: str) -> Question:
    return question.model_copy(update={"question_id": name, "document": "generated"})


def _stem(base: Question, stem: str | None) -> Question | None:
    if stem is None or stem == base.stem:
        return None
    return with_texts(base, stem, [option.text for option in base.options])


def _typeset(base: Question, rng: random.Random) -> Question:
    wide = str.maketrans("0123456789%()", "０１２３４５６７８９％（）")
    spaced = "".join(char + (" " if rng.random() < 0.05 else "") for char in base.stem)
    return with_texts(base, spaced.translate(wide), [f" {option.text}。" for option in base.options])


def _reordered(base: Question, rng: random.Random) -> Question:
    order = list(range(len(base.options)))
    while order == sorted(order):
        rng.shuffle(order)
    labels = [option.label for option in base.options]
    options = [Option(label=labels[place], text=base.options[old].text) for place, old in enumerate(order)]
    moved = {labels[old]: labels[place] for place, old in enumerate(order)}
    answer = sorted(moved[letter] for letter in base.answer or []) or None
    said = content_hash(base.stem, [option.text for option in options], base.shared_stem)
    return base.model_copy(update={"options": options, "answer": answer, "content_hash": said})


def _reworded(base: Question, rng: random.Random) -> Question | None:
    fitting = [pair for pair in _REWORDINGS if pair[0] in base.stem]
    stem = base.stem
    for old, new in rng.sample(fitting, min(3, len(fitting))):
        stem = stem.replace(old, new, 1)
    return _stem(base, stem)


def _noisy(base: Question, rate: float, alphabet: list[str], rng: random.Random) -> Question:
    def misread(text: str) -> str:
        out = []
        for char in text:
            draw = rng.random()
            if draw >= rate:
                out.append(char)
            elif draw < rate * 0.8:
                out.append(rng.choice(alphabet))
            elif draw < rate * 0.9:
                out.append(char + rng.choice(alphabet))
        return "".join(out) or text

    read = with_texts(base, misread(base.stem), [misread(option.text) for option in base.options])
    return read.model_copy(update={"confidence": 0.9})  # a scan, which knows that it was unsure


class Terms:
    """Real terms by kind: two options of one question are of a kind (a drug and another, a disease and another)."""

    def __init__(self, bases: list[Question]) -> None:
        """Collect the options that are words."""
        self._kinds: dict[str, list[list[str]]] = {}
        for base in bases:
            words = [option.text for option in base.options if _TERM.fullmatch(option.text)]
            words = [word for word in words if not FUNCTION.issuperset(word)]
            for word in words:
                self._kinds.setdefault(word, []).append(words)
        self._pattern = re.compile("|".join(sorted(map(re.escape, self._kinds), key=len, reverse=True)) or "(?!)")

    def exchanged(self, base: Question, rng: random.Random) -> Question | None:
        """A term of the stem exchanged for another of its kind, under the same options as a list of stems has."""
        places = list(self._pattern.finditer(base.stem))
        if not places:
            return None
        found = rng.choice(places)
        others = [word for word in rng.choice(self._kinds[found.group()]) if word not in found.group()]
        if not others:
            return None
        return _stem(base, base.stem[: found.start()] + rng.choice(others) + base.stem[found.end() :])


class Words:
    """Words of two characters that the bases have, by each of their characters: 腹部 and 腰部, 腹部 and 腹腔.

    A pair of characters is a word where it stands in four texts and eight times as often as by chance.
    """

    def __init__(self, bases: list[Question]) -> None:
        """Count the pairs of characters."""
        texts = [text for base in bases for text in (base.stem, *(option.text for option in base.options))]
        chars = Counter(char for text in texts for char in text)
        seen = (dict.fromkeys(pairwise(text)) for text in texts)  # in the order of the text, in every process
        pairs = Counter(pair for known in seen for pair in known if all(map(_IDEOGRAPH.match, pair)))
        total = chars.total()
        self._others: dict[tuple[str, str], list[tuple[str, str]]] = {}
        beside: dict[tuple[int, str], list[tuple[str, str]]] = defaultdict(list)
        for pair, found in pairs.items():
            if found >= 4 and found * total > 8 * chars[pair[0]] * chars[pair[1]] and FUNCTION.isdisjoint(pair):
                beside[0, pair[0]].append(pair)
                beside[1, pair[1]].append(pair)
                self._others[pair] = []
        for pair, others in self._others.items():
            others += [other for key in enumerate(pair) for other in beside[key] if other != pair]

    def exchanged(self, text: str, rng: random.Random, *, alike: bool = False) -> str | None:
        """The text with a word exchanged for another that shares a character, and looks ``alike`` if wanted."""
        found = [
            (place, other)
            for place, pair in enumerate(pairwise(text))
            for other in self._others.get(pair, ())
            if not alike or all(one == two or look_alike(one, two) for one, two in zip(pair, other, strict=True))
        ]
        if not found:
            return None
        place, other = rng.choice(found)
        return text[:place] + "".join(other) + text[place + 2 :]


def _right_option(base: Question, words: Words, rng: random.Random) -> Question | None:
    """A word of the right option exchanged, under the same letter: 缓释片 / 控释片."""
    texts = {option.label: option.text for option in base.options}
    if not base.answer or (said := words.exchanged(texts[base.answer[0]], rng)) is None:
        return None
    return with_texts(base, base.stem, list((texts | {base.answer[0]: said}).values()))


def _swapped(text: str, pairs: tuple[tuple[str, str], ...]) -> str | None:
    for old, new in pairs:
        if old in text:
            at = text.rindex(old)
            return text[:at] + new + text[at + len(old) :]
    return None


def _renumbered(text: str, pattern: str, rng: random.Random) -> str | None:
    found = list(re.finditer(pattern, text))
    if not found:
        return None
    chosen = rng.choice(found)
    return text[: chosen.start()] + str(int(chosen.group()) + rng.randint(1, 9)) + text[chosen.end() :]


def _unit_changed(text: str) -> str | None:
    for old, new in _UNITS:
        if found := re.search(rf"(?<=[0-9]){re.escape(old)}(?![A-Za-z])", text):
            return text[: found.start()] + new + text[found.end() :]
    return None


def _keyed_otherwise(base: Question | None, rng: random.Random) -> Question | None:
    """The question with another key, or with its own, as often."""
    others = [option.label for option in base.options if option.label not in (base.answer or [])] if base else []
    if base is None or not others or rng.random() < 0.5:
        return base
    return base.model_copy(update={"answer": [rng.choice(others)]})


def _other_key(base: Question, rng: random.Random) -> Question:
    others = [option.label for option in base.options if option.label not in (base.answer or [])]
    wrong = base.model_copy(update={"answer": [rng.choice(others)] if others else [base.options[0].label]})
    return _reordered(wrong, rng) if rng.random() < 0.5 else wrong


def _other_options(base: Question, bases: list[Question], rng: random.Random) -> Question:
    texts = [option.text for option in base.options]
    places = rng.sample(range(len(texts)), 2)
    for place in places:
        texts[place] = rng.choice(rng.choice(bases).options).text
    return with_texts(base, base.stem, texts)


def renamed(base: Question, replica: int, rename: Callable[[str], str]) -> Question:
    """Return a question with its words renamed, under an id of its own."""
    made = with_texts(base, rename(base.stem), [rename(option.text) for option in base.options])
    return made.model_copy(update={"question_id": f"{base.question_id}.{replica}"})


def renaming(replica: int, alphabet: list[str]) -> Callable[[str], str]:
    """Return what exchanges the characters of content in a text for others; set phrases and numbers stay."""
    shuffled = alphabet[:]
    random.Random(replica).shuffle(shuffled)
    table = str.maketrans("".join(alphabet), "".join(shuffled))

    def rename(text: str) -> str:
        parts, end = [], 0
        for found in _WORDS.finditer(text):
            parts += [text[end : found.start()].translate(table), found.group()]
            end = found.end()
        return "".join([*parts, text[end:].translate(table)])

    return rename
