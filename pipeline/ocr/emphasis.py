"""Options that a document sets apart from their neighbours, in bold, colour or underlined: so it shows its key."""

import re
from collections.abc import Sequence

from build_dataset.pipeline.patterns import Patterns

_P = Patterns(__name__)
CHOSEN = "☜"  # what readers put behind an option that is set apart; the parser decides whether it is a key
ON, OFF = "\ue2f0", "\ue2f1"  # around what is set apart, inside readers alone
HEADING = "\ue2f2"  # before a line that the file calls a heading, inside readers alone
LEAST = 0.4  # least share of an option's text that is set apart


def set_apart(text: str) -> str:
    """Return a text with signs around each of its lines."""
    return "\n".join(f"{ON}{part}{OFF}" if part.strip() else part for part in text.split("\n"))


def shown_options(texts: Sequence[str]) -> list[str]:
    """Return lines with ``CHOSEN`` behind options that are set apart where others of their question are not."""
    if not any(ON in text for text in texts):
        return [*texts]
    shown = [_characters(text) for text in texts]
    plain = ["".join(char for char, _ in line) for line in shown]
    runs: list[list[tuple[int, int, bool]]] = []  # of each question its options: line, end, set apart
    for at, text in enumerate(plain):
        labels = [*_P.label.finditer(text)]
        labels = labels if labels and not text[: labels[0].start()].strip() else []
        for label, end in zip(labels, [*(one.start() for one in labels[1:]), len(text)], strict=False):
            own = [place for place in range(label.end(), end) if text[place].strip()] or [end - 1]
            apart = [place for place in own if shown[at][place][1]]
            runs += [[]] if label["first"] or not runs else []
            opens = apart[:1] == own[:1] and len(apart) >= LEAST * len(own) > 0
            # a note may stand behind what is set apart; then the sign is no longer at the option's end
            runs[-1].append((at, (own if len(own) - len(apart) < 2 else apart or [0])[-1] + 1, opens))
    chosen = [one for run in runs if 0 < sum(opens for *_, opens in run) < len(run) for one in run if one[2]]
    for at, end, _ in reversed(chosen):
        plain[at] = f"{plain[at][:end]}{CHOSEN}{plain[at][end:]}"
    return plain


def _characters(text: str) -> list[tuple[str, bool]]:
    found, apart = list[tuple[str, bool]](), 0
    for part in re.split(f"([{ON}{OFF}])", text):
        apart += (part == ON) - (part == OFF)
        found += [(char, apart > 0) for char in part if part not in (ON, OFF)]
    return found
