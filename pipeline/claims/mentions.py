"""The options that a text names: by letter, by their own text, by ordinal, in a list or a range."""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain, pairwise
from operator import itemgetter
from typing import NamedTuple

from build_dataset.pipeline.characters import Folding
from build_dataset.pipeline.patterns import Patterns, is_latin

_P = Patterns(__name__)
_NTHS = ("一二三四五六七八九十", "①②③④⑤", ("first", "second", "third", "fourth", "fifth"))
_NTH = {word: at for words in _NTHS for at, word in enumerate(words)}

_SHORT = 8  # characters of an option that may be a number
_COMMON = ("正确", "错误", "是的", "不是", "yes", "no", "true", "false")  # need not mean the option
_LETTER, _OF_ORDINALS = re.compile("[A-Ka-k]"), re.compile("[第最tT①②③④⑤]")  # what each of these has
_ALIKE = Folding(str.maketrans("、~—−", ",---"))  # signs that stand for each other: 60~100 is quoted as 60-100


class Mention(NamedTuple):
    """Options named together at one place; ``start`` and ``end`` are offsets into the text."""

    labels: tuple[str, ...]  # in the order in which the text names them
    start: int
    end: int
    text: bool = False  # by their texts alone
    weak: bool = False
    """A small letter, or an option's text that may be an ordinary word: counts where an answer is expected."""
    letters: int = 0  # the end of the letters, without the text of the option that follows them
    full: bool = False  # with its letter and the text of its option


def mentions(text: str, options: Mapping[str, str], multiple: bool | None = None) -> list[Mention]:
    """Return all options that a folded text names, in order; those of a list together."""
    quotes = _quotes(text, options)
    letters = list(_letters(text, options, quotes))
    for start in [start for start, quote in quotes.items() if _is_letters(quote, text, options)]:
        del quotes[start]  # blood groups: "the answer is B" names option B, whatever option reads "B"
    amounts = any(body[:1].isdecimal() and len(body) < _SHORT for body in options.values())
    ordinals = list(_ordinals(text, tuple(options), numbered=not amounts))  # 정답은 2: the second
    named = _with_letters(text, list(_apart([*letters, *ordinals, *quotes.values()])))
    named = _outside_code(text, named)
    return list(_lists(text, list(_ranges(text, list(named), tuple(options))), multiple))


def may_name(text: str, options: Mapping[str, str], key: str) -> bool:
    """Return whether a folded text may name an option beside the key, at a glance: if not, it argues for no other."""
    others = options.keys() - {key}
    compact, *texts = _compact("\0".join([text, *map(options.__getitem__, others)])).split("\0")
    if any((body := it.rstrip("。.")) and (body in compact or compact[-2:] in body) for it in texts) or "\\%" in text:
        return True
    letters = _P.letters.finditer(text) if _LETTER.search(text) else ()
    if any(not others.isdisjoint(match[0].upper()) and not _is_article(text, match) for match in letters):
        return True
    ordinal = _P.ordinal_latin if is_latin(text) else _P.ordinal
    return _OF_ORDINALS.search(text) is not None and ordinal.search(text) is not None


def _is_article(text: str, letter: re.Match[str]) -> bool:
    """Return whether a letter alone is the article before a noun, as in A calcium channel blocker."""
    noun = letter[0] in ("A", "a") and _P.article.match(text, letter.end())
    return bool(noun) and not _P.labelled.search(text, max(0, letter.start() - 14), letter.start())


def _compact(text: str) -> str:
    return _ALIKE("".join(text.split()).lower())


def _apart(candidates: list[Mention]) -> Iterator[Mention]:
    """Drop mentions inside longer ones; a letter with its text wins over the text alone."""
    last = -1
    for mention in sorted(candidates, key=lambda mention: (mention.start, -mention.end, mention.text)):
        if mention.start >= last:
            yield mention
            last = mention.end


def _quotes(text: str, options: Mapping[str, str]) -> dict[int, Mention]:
    """Options named by their texts, whatever the white space and case, by where they begin."""
    bare = text.replace("\\%", " %")  # the backslash of LaTeX's per cent sign counts as white space
    compact = "".join(bare.split())
    alike = len(compact.lower()) == len(compact)  # lower() of a few letters is longer
    compact = compact.lower() if alike else "".join(c if len(c.lower()) > 1 else c.lower() for c in compact)
    compact = _ALIKE(compact)
    # Of 프리미돈(Primidone) each part is a name too.
    glosses = ((label, body, _P.gloss.fullmatch(body.strip())) for label, body in options.items())
    names = ((label, name) for label, body, gloss in glosses for name in (body, *(gloss.groups() if gloss else ())))
    needles = ((label, _compact(name).rstrip("。.")) for label, name in names)  # 肺炎 链球菌。: 肺炎链球菌
    likely = [(label, it) for label, it in needles if it and (it in compact or compact[-2:] in it)]
    if not likely:
        return {}
    spaced = len(compact) < len(bare)
    kept = [*chain.from_iterable(range(*it.span()) for it in re.finditer(r"\S+", bare))] if spaced else range(len(bare))
    hits: dict[tuple[int, int], list[str]] = {}
    broken = []
    for label, needle in likely:
        at = compact.find(needle)
        while at >= 0:
            start, end = kept[at], kept[at + len(needle) - 1] + 1
            if _whole(text, start, end):
                end += needle.endswith("型") and text[end : end + 1] == "血"
                hits.setdefault((start, end), []).append(label)
            at = compact.find(needle, at + len(needle))
        # How much of the beginning ends the text: two characters or more, of Latin letters four.
        lengths = range(min(len(needle) - 1, len(compact)), 3 if needle.isascii() else 1, -1)
        short = next((length for length in lengths if compact.endswith(needle[:length])), 0)
        if short and _whole(text, kept[-short], len(text)):  # an output that was cut off: 故选肺炎链
            broken.append((kept[-short], label))
    whole = set(hits)
    for start in {start for start, _ in broken} - {start for start, _ in whole}:
        hits[start, len(text)] = [label for at, label in broken if at == start]
    quotes = {}
    last = -1
    for (start, end), labels in sorted(hits.items(), key=lambda hit: (hit[0][0], -hit[0][1])):
        if start >= last and len(labels) == 1:  # of two options with the same text none is meant
            common = text[start:end].lower() in _COMMON or text[start:end].isdecimal()
            weak = common or (start, end) not in whole or end - start < 2
            quotes[start] = Mention((labels[0],), start, end, text=True, weak=weak, letters=start)
        last = max(last, end)
    return quotes


def _whole(text: str, start: int, end: int) -> bool:
    """Return whether a stretch is a whole word or number, no part of a longer Latin word or number."""
    before, after = text[start - 1 : start], text[end : end + 1]
    return not (_latin(before) and _latin(text[start])) and not (
        _latin(after) and _latin(text[end - 1]) and text[end : end + 2].rstrip(" .,)\n") not in ("s", "es")
    )


def _latin(char: str) -> bool:
    return char.isascii() and char.isalnum()


def _is_letters(quote: Mention, text: str, options: Mapping[str, str]) -> bool:
    """Return whether an option's text is nothing but letters that are labels."""
    return {*text[quote.start : quote.end]} <= {*options}


def _letters(text: str, options: Mapping[str, str], quotes: Mapping[int, Mention]) -> Iterator[Mention]:
    """Runs of labels that touch no other letter or digit and belong to no word, with their own text if it follows."""
    # Of letters that are joined, the word before the first and the word behind the last hold for all: proteins C and S.
    runs: list[tuple[Mention, str]] = []
    for mention, word in _runs(text, options, quotes):
        joined = bool(runs) and not mention.full and _P.joined.fullmatch(text, runs[-1][0].letters, mention.start)
        if word == "after":
            while runs and joined and not runs[-1][0].full:
                previous, _ = runs.pop()
                joined = bool(runs) and _P.joined.fullmatch(text, runs[-1][0].letters, previous.start)
        before = word == "before" or bool(joined and runs and runs[-1][1] == "before")
        runs.append((mention, "before" if before else word))
    yield from (mention for mention, word in runs if not word)


def _runs(text: str, options: Mapping[str, str], quotes: Mapping[int, Mention]) -> Iterator[tuple[Mention, str]]:
    """Runs of labels, and on which side they belong to a word, if they do."""
    if not (labels := "".join(sorted(options))):
        return
    starts = sorted(quotes)  # where options are quoted: the A in 维生素A缺乏 is no letter
    formulas = [match.span() for match in _P.formula.finditer(text)] if _P.in_formula.search(text) else []
    formula, end = 0, 0
    letters = re.escape(labels + labels.lower())
    token = re.compile(rf"(?<![A-Za-z0-9_°])(?<![A-Za-z]')[{letters}]{{1,{len(labels)}}}(?![A-Za-z0-9_])")
    for match in token.finditer(text):
        run = tuple(match.group().upper())
        # AA is no answer, nor is Ab, nor a word: "would be"
        small = match.group().islower()
        if len(set(run)) != len(run) or not (match.group().isupper() or small) or match.start() < end:
            continue
        if small and len(run) > 1 and not _P.small_run.search(text, max(0, match.start() - 8), match.start()):
            continue
        while formula < len(formulas) and formulas[formula][1] <= match.start():
            formula += 1
        inside = formula < len(formulas) and formulas[formula][0] <= match.start()
        if inside and not _P.labelled.search(text, max(0, match.start() - 14), match.start()):
            continue  # E = CV²/2
        behind = _P.delimiter.match(text, match.end())  # "B. 青霉素": a sign between letter and text
        quote = quotes.get(behind.end()) if behind else None
        full = quote is not None and quote.labels[0] == run[-1]
        if full and run == ("A",) and behind and behind.group().isspace() and (small or text[behind.end()].islower()):
            continue  # an article: a Bartholin gland cyst, A pants shop
        covering = bisect_right(starts, match.start()) - 1
        quoted = quotes[starts[covering]] if covering >= 0 else None
        covered = quoted is not None and quoted.end > match.start() and not _is_letters(quoted, text, options)
        if covered and not (full and len(run) == 1):
            continue
        end = quote.end if full and quote is not None else match.end()
        label = _P.bracketed.match(text, max(0, match.start() - 2)) or _P.particle.match(text, match.end())
        weak = small and not full and label is None
        mention = Mention(run, match.start(), end, weak=weak, letters=match.end(), full=full)
        yield mention, "" if full else _in_word(text, match)  # A型血友病, B超, 维生素C


def _in_word(text: str, match: re.Match[str]) -> str:
    start, end = match.span()
    before = text[max(0, start - 14) : start]  # as far as 选项, answer is, 正确答案为 reach
    if _P.labelled.search(before):
        return ""
    unit = match.group().islower() and before.rstrip()[-1:].isdigit()  # 不超过1 g
    word = {"A": _P.article, "a": _P.article, "I": _P.pronoun}.get(match.group())
    article = word is not None and word.match(text, end)
    acronym = end - start > 1 and _P.acronym.match(text, end)  # AB型, AD患者
    if (known := _P.before.search(before)) or unit or article or acronym:
        return "before" if known else "word"
    quoted = start > 0 and text[start - 1] == text[end : end + 1] != " "
    # (A) and “A” are letters, whatever follows
    after = not quoted and _P.after.match(text, end) is not None and not _P.range.match(text, end)
    return "after" if after else ""


def _ordinals(text: str, labels: tuple[str, ...], *, numbered: bool) -> Iterator[Mention]:
    form = _P.ordinal_latin if is_latin(text) else _P.ordinal
    for match in form.finditer(text) if _P.may_be_ordinal.search(text) else ():
        number = match.groupdict().get("number")
        word, start = match[match.lastindex or 0].lower(), match.start("number") if number else match.start()
        # 第三个选项, option 3, the third
        at = len(labels) - 1 if word in ("last", "最后") else int(word) - 1 if word.isdecimal() else _NTH[word]
        if 0 <= at < len(labels) and (numbered or not number):
            yield Mention((sorted(labels)[at],), start, match.end(), letters=match.end())


def _ranges(text: str, named: list[Mention], labels: tuple[str, ...]) -> Iterator[Mention]:
    """A-D, A至C: every label from the one to the other."""
    skip = False
    for before, after in pairwise([*named, None]):
        if before is None or skip:
            skip = False
            continue
        low, high = before.labels[0], after.labels[0] if after else ""
        # only from a smaller letter to a larger one
        dash = _P.range.match(text, before.end) if len(before.labels) == 1 and low < high else None
        skip = dash is not None and after is not None and dash.end() == after.start
        spread = tuple(label for label in sorted(labels) if low <= label <= high)
        yield before._replace(labels=spread, end=after.end, letters=after.letters) if skip and after else before


def _with_letters(text: str, named: list[Mention]) -> Iterator[Mention]:
    """Each option's text and the letter in brackets after it made one: 青霉素(A)."""
    skip = -1
    for mention in named:
        after = _P.letter_after.match(text, mention.end) if mention.text else None
        if after is not None and after["label"].upper() == mention.labels[0]:
            skip = after.end()
            yield mention._replace(end=skip, text=False, full=True, letters=skip)
        elif mention.start >= skip:
            yield mention


def _outside_code(text: str, named: Iterable[Mention]) -> Iterator[Mention]:
    """Drop what stands within code: D in print(D), Math in Math.floor(3.9); not code that is an option, nor len(A)."""
    spans = [match.span() for match in (_P.code.finditer(text) if _P.may_be_code.search(text) else ())]
    for mention in named:
        at = bisect_right(spans, mention.start, key=itemgetter(0)) - 1
        span = spans[at] if at >= 0 else (0, 0)
        if mention.full or mention.end > span[1] or (mention.start, mention.end) == span:
            yield mention


def _lists(text: str, named: list[Mention], multiple: bool | None) -> Iterator[Mention]:
    """Neighbours that are parts of one list, made one."""
    at = 0
    while at < len(named):
        members, loose = [named[at]], 0
        for mention in named[at + 1 : at + 27]:  # at most all letters of the alphabet
            if (joined := _join(text, members, mention, multiple)) is None:
                break
            loose = len(members) if joined is _P.loose else loose
            members.append(mention)
        if loose and _next_clause(text, members[loose - 1].end, members[loose:]):
            members = members[:loose]
        labels = tuple(label for member in members for label in member.labels)
        weak = all(member.weak for member in members)
        yield members[-1]._replace(labels=labels, start=members[0].start, weak=weak)
        at += len(members)


def _join(text: str, members: list[Mention], mention: Mention, multiple: bool | None) -> re.Pattern[str] | None:
    """The kind of joint between a list and what comes next; None where the list ends."""
    last = members[-1]
    seen = {label for member in members for label in member.labels}
    # letters and texts are not one list, nor are capitals and small letters
    unlike = last.text != mention.text or (
        last.weak != mention.weak if mention.text else text[last.start].islower() != text[mention.start].islower()
    )
    if unlike or seen & set(mention.labels) or mention.start - last.end > 60:
        return None
    gap = text[last.end : mention.start]
    if any(joint.fullmatch(text, last.end, mention.start) for joint in (_P.tight, _P.touching, _P.captioned)):
        return _P.tight
    alike = mention.text or last.full == mention.full  # 答案:A、B。⏎C(华法林)和E(肝素)… begins another list
    rejected = _P.rejected.search(text, max(0, members[0].start - 6), members[0].start)
    item = "\n\n" in gap and text[mention.end : mention.end + 2] in (". ", ": ")  # B⏎⏎A. …: an answer above items
    if item or "]." in gap or ("." in gap and rejected):
        return None
    below = "\n" in gap
    ends = (below or mention.full) and (multiple is False or (below and mention.full and not multiple))
    if not ends and alike and (mention.full or _P.goes_on.match(text, mention.end)) and _P.loose.fullmatch(gap):
        return None if mention.text and "," not in gap else _P.loose
    return None


def _next_clause(text: str, comma: int, added: list[Mention]) -> bool:
    """Return whether a comma or a blank is followed by the next clause's subject: A,B和C用于…, C,ABDE均正确."""
    last = added[-1]
    if not (last.full or _P.goes_on.match(text, last.end)):
        return True
    # C,ABDE均正确: a list of its own behind the comma
    several = len(added) > 1 or "、" in text[comma : last.end] or len(last.labels) > 1
    return several and _P.all_of_them.match(text, last.end) is not None
