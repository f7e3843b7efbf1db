"""Texts that list options: the rule for those that never conclude, and those that open with a list and no answer."""

from importlib.resources import files

from build_dataset.pipeline.claims.lexicon import NAMES
from build_dataset.pipeline.evaluate.extraction.task import FoundAnswer, ReadingTask
from build_dataset.pipeline.patterns import Patterns

_P = Patterns("answers", files("build_dataset.pipeline.claims"), NAMES)


def first_listed(task: ReadingTask) -> FoundAnswer | None:
    """The first option of a text that opens with it, goes through others and never concludes.

    People who judged 106 such outputs took the opening for the answer in every one.
    A text that breaks off, that denies its first option, or that judges bare letters (A对，B对。C呢？), states nothing.
    """
    if task.multiple or task.output.wrong or len(task.output.items) < 2 or not _P.ended.search(task.output.text):
        return None
    first = task.output.items[0]
    mention = task.output.words[first.first][3]
    if mention is None or _P.was.match(task.output.text, mention.end) or _P.asks.search(task.output.text):
        return None
    judged = _P.called_wrong if mention.full else _P.called_either  # A对，B对。C呢？
    bare = task.output.text[: first.start].strip() in ("", "选项")  # nothing but 选项 stands before it
    verdict = not mention.full and first.label in (*task.output.judged.right, *task.output.judged.wrong)
    if not bare or verdict or judged.match(task.output.codes, first.first + 1):
        return None
    return FoundAnswer((first.label,), first.start, first.end)


def lists_options(task: ReadingTask) -> bool:
    """Return whether a text opens with a list and so with no answer to a question that has one.

    It names each option once, in order, or breaks off behind the second (A: …⏎B: …), or opens 正确答案是：⏎A. …⏎C. ….
    """
    every = [(label,) for label in task.output.options]
    named = [mention.labels for mention in task.output.mentions if not mention.text]
    breaks = named == every[:2] and not task.output.claims and not _P.ended.search(task.output.text)
    listed = _P.opens_list.match(task.output.codes) is not None
    return breaks or listed or (named == every and len(every) > 2 and not task.multiple)
