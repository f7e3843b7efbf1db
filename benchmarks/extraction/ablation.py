"""The worth of each rule, and of each row of the pattern tables: the outputs that are read otherwise without it.

    python -m benchmarks.extraction.ablation [FOLDER] [rules] [words] [claims] [patterns]

Reads what ``measure`` reads: our own labelled outputs and, from ``FOLDER``, outputs that people judged. Prints a row a
rule, a kind of word (``words``), a kind of claim (``claims``) and a pattern (``patterns``): outputs that are read right
only with it (lost), only without it (gained), and those that get a wrong letter only without it (harmed). Only outputs
in which it speaks are read again. What loses one or none and harms none can go.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from benchmarks.extraction.measure import Output, outputs
from build_dataset.pipeline.claims import Text, fold, folding, grammar, mentions as named
from build_dataset.pipeline.claims.lexicon import WordFinder
from build_dataset.pipeline.evaluate import extraction
from build_dataset.pipeline.evaluate.extraction import rules

_NEVER = re.compile(r"(?!)")
_HOLDERS = {"mentions": [named._P], "folding": [folding._P], "grammar": [grammar._P], "answers": [rules._P]}


def outcome(output: Output) -> tuple[bool, bool, str | None]:
    """Return whether an output is read as labelled, whether a wrong letter is read, and the rule."""
    found = output.read()
    read = "".join(found.letters or ())
    return output.agrees(read), bool(read) and not output.agrees(read), found.rule


@contextmanager
def without(kind: str, at: int | str) -> Iterator[None]:
    """Take a rule, a kind of word or of claim, or a pattern, away for a while."""
    whole, productions, lexicon = extraction.RULES, grammar.PRODUCTIONS, grammar.LEXICON
    place, _, name = str(at).partition(" ")
    kept = [(holder, getattr(holder, name)) for holder in _HOLDERS.get(place, [])]
    for holder, _ in kept:
        setattr(holder, name, _NEVER)
    if kind == "rules":
        extraction.RULES = {name: rule for name, rule in whole.items() if name != at}
    elif kind == "claims":
        grammar.PRODUCTIONS = [row for place, row in enumerate(productions) if place != at]
    elif kind == "words":
        words = ["\x01" if place == at else row["pattern"] for place, row in enumerate(grammar._WORDS)]
        grammar.LEXICON = WordFinder(words)
    try:
        yield
    finally:
        extraction.RULES, grammar.PRODUCTIONS, grammar.LEXICON = whole, productions, lexicon
        for holder, pattern in kept:
            setattr(holder, name, pattern)


def speaks(output: Output, rule: str | None) -> Iterator[tuple[str, int | str]]:
    """Return what speaks in an output: the rule that decided, kinds of words and of claims."""
    if rule:
        yield "rules", rule
    said = Text(fold(output.text), {label: fold(body) for label, body in output.options.items()}, output.multiple)
    codes = said.codes
    for at, row in enumerate(grammar.PRODUCTIONS):
        if row.pattern.search(codes):
            yield "claims", at
    masked, end = [], 0
    for mention in said.mentions:
        masked += [said.text[end : mention.start], "\ue000" * (mention.end - mention.start)]
        end = mention.end
    for at in {word for word, *_ in grammar.LEXICON.words("".join([*masked, said.text[end:]]))}:
        yield "words", at


def main(folder: Path | None, kinds: list[str]) -> None:
    """Print a row for each rule and each row of the tables."""
    read = list(outputs(folder))
    before = [outcome(output) for output in read]
    spoken: dict[tuple[str, int | str], list[int]] = {}
    for at, (output, (_, _, rule)) in enumerate(zip(read, before, strict=True)):
        for key in speaks(output, rule):
            spoken.setdefault(key, []).append(at)
    print(f"{len(read)} outputs, {sum(good for good, _, _ in before)} as labelled", flush=True)
    names = {"words": grammar._WORDS, "claims": grammar._CLAIMS, "rules": {}}
    every = [("rules", rule) for rule in extraction.RULES]
    every += [(kind, at) for kind in ("claims", "words") for at in range(len(names[kind]))]
    for table, (holder, *_) in _HOLDERS.items():
        rows = holder._rows.items()
        every += [("patterns", f"{table} {name}") for name, row in rows if isinstance(row, str)]
    for kind, at in every:
        places = spoken.get((kind, at), []) if kind != "patterns" else list(range(len(read)))
        if kind not in kinds or (
            kind != "patterns" and len(places) > len(read) / 3
        ):  # what speaks everywhere is needed
            continue
        with without(kind, at):
            after = [outcome(read[place]) for place in places]
        was = [before[place] for place in places]
        pairs = list(zip(was, after, strict=True))
        lost = sum(old[0] and not new[0] for old, new in pairs)
        gained = sum(new[0] and not old[0] for old, new in pairs)
        harmed = sum(new[1] and not old[1] for old, new in pairs)
        label = at if isinstance(at, str) else f"{at} {names[kind][at]['example']!r}"
        print(f"{kind:7} {lost:5} lost {gained:3} gained {harmed:3} harmed of {len(places):5}  {label}", flush=True)


if __name__ == "__main__":
    given = sys.argv[1:]
    wanted = [word for word in given if word in ("rules", "words", "claims", "patterns")]
    folders = [Path(word) for word in given if word not in wanted]
    main(folders[0] if folders else None, wanted or ["rules", "words", "claims"])
