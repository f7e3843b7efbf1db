"""The rule for texts that go through options and never conclude."""

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
