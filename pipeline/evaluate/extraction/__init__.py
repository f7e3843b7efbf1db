"""The answer stated in a model's output, the rule that read it, and where it stands.

A list of letters is no answer to a question that has one. Where the text opens with a single letter and ends with a
list, the opening is taken; where there is nothing but the list, the list stays, and is wrong. That is how people
judged 2,268 outputs of two models (10 of 10 right lists with such an opening, 5 of 6 without).
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import pairwise

from build_dataset.pipeline.claims import blank_thinking, explanations, fold, visible_output
from build_dataset.pipeline.evaluate.extraction.rules import RULES, breaks_off, is_own, opens_with
from build_dataset.pipeline.evaluate.extraction.task import READ as _P, FoundAnswer, ReadingTask
from build_dataset.schemas.evaluation import Sureness

__all__ = ["RULES", "Extraction", "answers_first", "extract", "visible_output"]

_STILL = ("head", "first_listed", "concluded", "verdicts", "odd_one_out")
"""Rules that may find a single answer in a text that names several; the first two even in one that states several."""
_WEAK = ("head", "quoted", "worded", "suggested", "only_named", "first_listed")
"""Rules whose finding the text's own verdict on the option outweighs, where it is known what is asked for."""
_BEGINNING, _ENDING = 16_000, 48_000
"""Characters that are read of a longer text, thinking left out: nobody answers in the middle of a megabyte."""
_HABIT, _FEWEST = 0.75, 20  # the share of outputs, and the fewest outputs, that make a habit
_SURENESS = {
    Sureness.EXPLICIT: "opening stated everything last_line",
    Sureness.CONCLUDED: "head concluded ranked",
    Sureness.INFERRED: "quoted verdicts odd_one_out",
    Sureness.WEAK: "predicated worded suggested only_named first_listed",
}
SURENESS = {rule: sure for sure, rules in _SURENESS.items() for rule in rules.split()}


@dataclass(frozen=True)
class Extraction:
    """An answer that was read, and the rule that read it."""

    letters: tuple[str, ...] | None = None  # in order; None when the text states no answer
    rule: str | None = None  # a key of RULES
    span: tuple[int, int] | None = None  # offsets of the words it was read from, in the text as given

    @property
    def sureness(self) -> Sureness | None:
        """Return how sure the reading is; a letter that was chosen is explicit."""
        return None if self.letters is None else SURENESS.get(self.rule or "", Sureness.EXPLICIT)


def extract(
    text: str,
    options: Mapping[str, str],
    multiple: bool | None = None,
    answer_first: bool | None = None,
    *,
    stem: str | None = None,
) -> Extraction:
    """Read the answer that ``text`` states.

    The rules of ``RULES`` are tried from the surest to the weakest; the first that finds something decides.
    Within a rule the last finding counts: people, and models, end with what they mean.

    Args:
        text: the model's output as it came.
        options: option texts by label; labels are single capital letters. Texts may be empty.
        multiple: whether the question has several answers; None where the stem alone can say so.
        answer_first: whether the answer comes before any explanation (then the opening counts), or after the
            reasoning (then the conclusion counts); None to decide from the text itself.
        stem: the question's, which says whether the right or the wrong option is asked for.

    Returns:
        The extraction; never raises on any text.
    """
    multiple = explanations.asks_for_several(stem) if multiple is None and stem else multiple
    known = {fold(label).upper(): fold(body) for label, body in options.items()}
    wrong = explanations.asks_for_wrong(stem) if stem else None
    task = ReadingTask(_visible(text, known, multiple), known, multiple, wrong, fold(stem or ""), answer_first)
    extraction = _read(task)
    if extraction.letters is None and len(whole := blank_thinking(text, turns=True)) > len(blank_thinking(text)):
        task = replace(task, text=_visible(whole, known, multiple, turns=True))
        if sum(mention.full for mention in task.mentions) > 1:  # the question itself, repeated before its answer
            return _read(task)
    return extraction


def _read(task: ReadingTask) -> Extraction:
    multiple = task.multiple
    if not task.options or not task.text.strip() or _contradicts_itself(task):
        return Extraction()
    several = None
    for name, rule in RULES.items():
        stated = several and several.sureness is Sureness.EXPLICIT
        answer = rule(task) if several is None or name in (_STILL[:2] if stated else _STILL) else None
        if answer is None or not answer.labels or (name in _WEAK and _is_outweighed(task, answer)):
            continue
        letters = tuple(sorted(set(answer.labels)))
        if name == "head" and len(letters) == len(task.options) > 1:
            continue  # "A, B, C, D: which one …" names all
        either = len(letters) > 1 and _P.either.search(task.text, answer.start, answer.end)
        if multiple is False and (either or _P.alternative.match(task.text, answer.end)):
            return Extraction()  # A or B?
        extraction = Extraction(letters, name, (answer.start, answer.end))
        marked = SURENESS[name] is Sureness.EXPLICIT and _P.own_mark.search(task.codes)  # 【答案】: AD, a wrong list
        items = task.items  # a list can be the answer, not in a text that goes through all and calls all right
        through = len(letters) == len(task.options) == len(items) and not items[0].first
        if len(letters) == 1 or marked or multiple or (multiple is None and not through):
            return extraction
        several = several or extraction
    # 剩下的D和E: where one is asked for, a list is no answer unless it is stated as one
    return several if several and (multiple is None or several.sureness is Sureness.EXPLICIT) else Extraction()


def _contradicts_itself(task: ReadingTask) -> bool:
    """Return whether sentences that are nothing but an answer differ: A⏎C, 答案：A⏎答案：C, 题目1：A／题目2：C."""
    # Likewise where three options or more are chosen in turn, each in the passage about it.
    # Not where the last is marked as final (A⏎最终答案：C) or as a correction, nor where letters alone are headings.
    codes, words, text = task.codes, task.words, task.text
    # A：…故选A。B：…故选B。C：…故选C
    chosen = {claim.labels for claim in task.claimed("stated", "called") if is_own(task, claim)}
    if _answers_several_questions(task) or (len(chosen) > 2 and not task.multiple and not task.answer_first):
        return True
    # A text that sorts options under heads of its own (抗凝药：A、B。抗血小板药：C、D) chooses none.
    lists = [set(claim.labels) for claim in task.claimed("concluded") if len(claim.labels) > 1]
    sorts = any(not before & after for before, after in pairwise(lists))  # two lists without a common letter
    if task.multiple and not task.claimed("stated", "called") and sorts:
        return True
    bare = [(match, words[match.start("m")][3]) for match in _P.bare.finditer(codes)]
    plain = [(match, mention) for match, mention in bare if mention is not None and not mention.full]
    alone = {mention.labels for match, mention in plain if not match["key"] and len(mention.labels) == 1}
    only = len(alone) == 1  # more of them are headings
    stated = [mention for match, mention in plain if match["key"] or (only and match.start("m") == 0)]
    if len({mention.labels for mention in stated}) < 2:
        return len(alone) > 1 and len(plain) == len(_P.sentence.findall(codes))
    between = text[stated[-2].end : stated[-1].start]
    return not (_P.final.search(between) or _P.taken_back.search(between))


def _answers_several_questions(task: ReadingTask) -> bool:
    """Return whether numbered answers follow each other and differ, and no answer is stated after them."""
    found = _P.numbered.finditer(task.text)
    answers = [match for match in found if match["letter"] in task.options]  # not (1R,2S)-… of a chemical name
    numbers = {match["number"] for match in answers}
    if len({match["letter"] for match in answers}) < 2 or not numbers & {"1", "一"} or len(numbers) < 2:
        return False
    return all(claim.start < answers[-1].end() for claim in task.claimed("stated", "called"))


def _is_outweighed(output: ReadingTask, answer: FoundAnswer) -> bool:
    """Return whether a text itself says that options are not what the stem asks for, or has no end, or no telling."""
    # The latter not where it opens with the finding or chooses it. The capacity is 2 F; to find the charge we multiply
    # the capacity by the: F is a unit.
    denied = output.judged.right if output.wrong else output.judged.wrong  # 错误的是: what is called right is not it
    if output.wrong is not None and set(answer.labels) <= set(denied):
        return True
    chosen = any(claim.start == answer.start and claim.kind == "concluded" for claim in output.claims)
    opens = not output.text[: answer.start].strip(" \n([") and len(output.items) < 2
    return not (chosen or opens) and breaks_off(output.text) is not None and answer.end <= len(output.text.rstrip()) - 8


def answers_first(outputs: Iterable[tuple[str, Iterable[str]]]) -> bool | None:
    """Return whether a run's outputs open with their answers as a habit: three in four, of 20 or more.

    One output alone does not show whether "A：…。B：…" is an answer with an explanation or the beginning of an
    analysis; how the model answers the other questions does. Outputs are texts with their questions' labels; empty
    ones do not count. None when there is no such habit, or are too few outputs to tell.
    """
    opens = []
    for text, labels in outputs:
        known = {fold(label).upper(): "" for label in labels}
        task = ReadingTask(_visible(text, known), known)
        if task.options and task.text.strip():
            opens.append(opens_with(task) is not None and len(task.items) <= 2)
    return True if len(opens) >= _FEWEST and sum(opens) >= _HABIT * len(opens) else None


def _without_echo(text: str, options: Mapping[str, str]) -> str:
    """Blank the options that a text prints as the question did, with nothing said of them, below words of its own."""
    lines = [rf"{label}[)\].:、,\s]{{1,3}}{re.escape(body.strip())}" for label, body in options.items()]
    # labels without texts cannot be told from answers
    if len(lines) < 2 or not all(body.strip() for body in options.values()):
        return text
    body = r"[.;。,]{0,2}\s{0,4}[(\[【]?".join(lines)
    printed = re.search(rf"(?<=[^\s(\[【])\s{{0,3}}\n\s{{0,3}}[(\[【]?{body}(?=[\s。;]|\Z)", text)
    if printed is None:
        return text
    return text[: printed.start()] + "\n" + " " * (len(printed.group()) - 1) + text[printed.end() :]


def _visible(text: str, options: Mapping[str, str], multiple: bool | None = None, *, turns: bool = False) -> str:
    visible = blank_thinking(text, turns=turns)
    if len(visible) > _BEGINNING + _ENDING:  # linear time for an output that repeats itself for a megabyte
        visible = visible[:_BEGINNING] + " " * (len(visible) - _BEGINNING - _ENDING) + visible[-_ENDING:]
    return visible if multiple else _without_echo(visible, options)
