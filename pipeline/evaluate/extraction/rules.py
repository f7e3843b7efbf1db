"""Rules that decide among a text's claims, from the surest to the weakest."""

import re
from collections.abc import Iterable, Mapping
from importlib.resources import files
from itertools import pairwise

from build_dataset.pipeline.claims import Claim, Stance, grammar
from build_dataset.pipeline.claims.lexicon import NAMES, Token
from build_dataset.pipeline.evaluate.extraction.listed import first_listed, lists_options
from build_dataset.pipeline.evaluate.extraction.task import FoundAnswer, ReadingTask, Rule, in_words, stems
from build_dataset.pipeline.patterns import Patterns

_P = Patterns("answers", files("build_dataset.pipeline.claims"), NAMES)


def _last(claims: Iterable[Claim]) -> FoundAnswer | None:
    last = max(claims, key=lambda claim: (claim.mention.start, -claim.start), default=None)
    return None if last is None else FoundAnswer(last.labels, last.start, last.mention.end)


def opens_with(task: ReadingTask) -> FoundAnswer | None:
    """The answer at the very beginning, unless it is called wrong or belongs to a sentence of another kind."""
    match = _P.opens.match(task.output.codes)
    mention = task.output.mention_at(match) if match else None
    if match is None or mention is None or mention.text or mention.weak:
        return None
    denied = _P.opens_right if task.output.wrong else _P.opens_wrong  # "A错误，…" opens an analysis
    if not mention.full and denied.match(task.output.codes, match.end()):
        return None
    text, labels = task.output.text, mention.labels
    clause = mention.full or _P.clause_ends.match(text, mention.letters)  # "B。", "B 青霉素"; not "B型血友病"
    if not clause or (task.output.wrong and task.output.calls_right(0, mention)):
        return None
    through = len(task.output.items) >= max(2, len(labels)) or mention.full
    two = len(labels) > 1 and not mention.full and task.multiple is False
    if two and (text[mention.start + 1] != "." or len(labels) == len(task.output.options)):
        return None  # A;C is two answers, A.B.C.D none; A. C may be an option's text that was cut off
    if len(labels) > 1 and (task.multiple is False or (through and not task.multiple)):
        return FoundAnswer(labels[:1], mention.start, mention.start + 1)
    return FoundAnswer(labels, task.output.words[0][1], mention.end)


def breaks_off(text: str) -> re.Match[str] | None:
    """Match the last sentence of a text that has no end, or says that there is no telling."""
    return _P.unfinished.search(text, max(0, len(text) - 500))


def opening(task: ReadingTask) -> FoundAnswer | None:
    """An output that answers first: "答案：B …", "B. 青霉素。解析：…", "选项B:青霉素", whatever it says afterwards.

    Where it is known that the answer comes first, any letter at the opening is it, and of several options that the
    opening goes through, the first. Where that is not known, the opening must be a statement by itself, a letter or
    a letter with its option's text, in a text that does not go through the options.
    """
    if task.answer_first is False or _P.taken_back.search(task.output.text):  # "B。不对，应为C"
        return None
    answer = opens_with(task)
    if answer is None or _P.final.search(task.output.text, answer.end):  # "B … 最终答案：C"
        return None
    if task.answer_first:
        return answer
    if _P.own_mark.search(task.output.codes, 1):  # "B. 青霉素。… 【答案】C"
        return None
    closed = _P.statement_ends.match(task.output.text, answer.end) or _P.called.match(task.output.codes)
    best = _P.called_best.match(task.output.codes)  # "B是最佳选择"
    later = [claim for claim in task.claims("stated", "called") if claim.start >= answer.end]
    alone = _P.alone_first.match(task.output.text, answer.end) and not later
    few = len(task.output.items) <= 2 and not lists_options(task)
    return answer if best or (closed and (alone or few)) else None


def stated(task: ReadingTask) -> FoundAnswer | None:
    """The last of: 答案是A, 故选A, A是正确答案, 不是A而是B, a boxed letter, the answer is A, 答案是青霉素."""
    claims, called = task.claims("stated", "called"), task.claims("called")
    if task.multiple and called and len(called) == len(claims):  # "A是正确答案。C是正确答案。", "bは正しい。cは正解。"
        right = () if task.output.wrong or len(called) > 1 else task.output.judged.right
        labels = {label for claim in called for label in claim.labels} | {*right}
        if len(labels) > 1:
            return FoundAnswer(tuple(labels), called[0].start, called[-1].end)
    last = _last(claims)
    if last is not None and len(below := _below(task, claims[-1])) > 1:
        return last._replace(labels=below)
    if last is None or not task.multiple or len(last.labels) > 1:
        return last
    # 选A、选B、选D where several are asked for
    row = [claim for claim in claims if not re.search(r"[。.;\n]", task.output.text[claim.end : last.start])]
    return FoundAnswer(tuple(label for claim in row for label in claim.labels), row[0].start, last.end)


def _below(task: ReadingTask, claim: Claim) -> tuple[str, ...]:
    """Return the options in the lines, one after the other, below what states them: 正确答案是：⏎A. …⏎C. …."""
    at = next(at for at, word in enumerate(task.output.words) if word[3] is claim.mention)
    lines = _P.list_below.match(task.output.codes, at)
    heads = [task.output.words[head][3] for head in task.output.heads if lines and at <= head < lines.end()]
    labels = tuple(mention.labels[0] for mention in heads if mention is not None)
    return labels if [*labels] == sorted({*labels}) else ()


def is_own(task: ReadingTask, claim: Claim) -> bool:
    """Return whether a claim about an option stands in the passage about that option."""
    passages = (item for item in task.output.items if claim.labels == (item.label,))
    return any(item.start <= claim.start < item.end for item in passages)


def everything(task: ReadingTask) -> FoundAnswer | None:
    """以上都是 where several answers are allowed and no option says so itself."""
    match = None if task.multiple is False else _P.chooses_all.search(task.output.codes)
    if match is None or Token.EXCEPT in task.output.codes[match.end() :]:
        return None
    first, last = task.output.words[match.start()], task.output.words[match.end() - 1]
    return FoundAnswer(tuple(task.output.options), first[1], last[2])


def last_line(task: ReadingTask) -> FoundAnswer | None:
    """The last line, or the last lines, are nothing but letters; the last sentence where the text goes back."""
    ends = _P.last_sentence if _P.taken_back.search(task.output.text) else _P.last_line  # "等等，… 。B"
    match = ends.search(task.output.codes)
    mention = task.output.mention_at(match) if match else None
    if match is None or mention is None or (mention.full and (len(task.output.items) > 1 or match.start() == 0)):
        return None
    return FoundAnswer(mention.labels, mention.start, mention.end)


def head(task: ReadingTask) -> FoundAnswer | None:
    """The text opens with the answer: "B", "B. 青霉素", "选项B:青霉素 …"."""
    match = _P.opens.match(task.output.codes)
    mention = task.output.mention_at(match) if match else None
    if match is None or mention is None or mention.text or lists_options(task):
        return None
    named = len(task.output.items)
    # "ABD。A：…。B：…。D：…" explains its own list
    answers = len(mention.labels) if task.multiple and len(mention.labels) < len(task.output.options) else 0
    one_of_several = task.multiple and len(mention.labels) == 1  # A ✓ B ✓ C ✗
    if named > max(1 if task.answer_first is False or one_of_several else 2, answers):
        return None
    judged = _P.judged_either if one_of_several or task.output.wrong else _P.judged_not
    goes_on = mention.weak and not _P.word_ends.match(task.output.codes, match.end())
    if goes_on or (not mention.full and judged.match(task.output.codes, match.end())):
        return None
    clause = mention.full or _P.clause_ends.match(task.output.text, mention.letters)
    called = task.output.wrong and task.output.calls_right(0, mention)
    if called or not clause or _P.was.match(task.output.text, mention.end):
        return None
    return FoundAnswer(mention.labels, mention.start, mention.end)


def concluded(task: ReadingTask) -> FoundAnswer | None:
    """因此A正确, 说法错误的是D, 最佳选项为B."""
    through = len(task.output.items) > 2  # then 因此A正确 may be about option A alone
    right = {claim.labels for claim in task.claims("judged")} if not task.multiple else {()}
    verdicts = right if len(right) > 1 else {()}  # 因此A正确 … 因此B正确: verdicts, no conclusion
    claims = ([claim for claim in task.claims(kind) if not claim.mention.text] for kind in ("concluded", "counter"))
    own = ([claim for claim in kind if not (through and is_own(task, claim))] for kind in claims)
    conclusion, counter = (_last(claim for claim in kind if claim.labels not in verdicts) for kind in own)
    if conclusion and counter and task.multiple is False and len(conclusion.labels) > 1:  # "正确的是A、B、D，错误的是C"
        return counter
    return conclusion or counter


def quoted(task: ReadingTask) -> FoundAnswer | None:
    """The text, its first line, or its conclusion is an option's text without the letter."""
    words = task.output.words
    if match := _P.first_quote.match(task.output.codes):  # 青霉素。 as the first line
        mention = next((word[3] for word in words[match.start() : match.end()] if word[3]), None)
        if mention is not None:
            return FoundAnswer(mention.labels, mention.start, mention.end)
    if below := task.output.below:
        left = [claim for claim in task.claims("quoted") if claim.start >= task.output.words[below - 1][2]]
        return _closing(task, below) or _last(left) or _apart(task, below)  # "This leaves warfarin, which …"
    answer = _listed(task) or _last(_undivided(task)) or _closing(task, 0)
    if answer is None or (task.multiple is False and len(answer.labels) > 1):
        return None
    # 感染性的有败血症,非感染性 … : where several are asked for, the first is no answer in a text that breaks off
    return None if task.multiple and len(answer.labels) == 1 and not _P.ended.search(task.output.text) else answer


def _apart(task: ReadingTask, below: int) -> FoundAnswer | None:
    """The only option that is named below options that are gone through, or above them: This matches option C."""
    codes = task.output.codes
    above = min(codes.find(grammar.BLANK_LINE, 1) % len(codes), task.output.heads[0])  # the first paragraph
    for start, end in ((below, len(codes)), (0, above)):
        named = [word[3] for word in task.output.words[start:end] if word[3] and not (word[3].weak and word[3].text)]
        if named and not _P.denies.search(codes, start, end) and Token.PERHAPS not in codes[start:end]:
            alike = len({frozenset(mention.labels) for mention in named}) == 1
            return FoundAnswer(named[-1].labels, named[0].start, named[-1].end) if alike else None
    return None


def _undivided(task: ReadingTask) -> list[Claim]:
    """Return claims that quote an option; of 大发作首选X,小发作首选Y, which choose for others too, none."""
    claims = task.claims("quoted", "concluded", "counter")
    chosen = {claim.labels for claim in claims if claim.kind == "quoted"}
    superlatives = [_P.superlative.search(task.output.text, claim.start - 8, claim.end) for claim in claims]
    most = {superlative["most"]: claim for superlative, claim in zip(superlatives, claims, strict=True) if superlative}
    if len(most) > 1:  # 最常见的是出血,最严重的是穿孔
        return [claim for word, claim in most.items() if word in task.output.stem]
    return claims if len(chosen) < 2 else [claim for claim in claims if claim.kind != "quoted"]


def _listed(task: ReadingTask) -> FoundAnswer | None:
    """The only list that a sentence ends with, where several answers may be meant."""
    listed = [task.output.mention_at(match) for match in _P.listed.finditer(task.output.codes)]
    lists = [each for each in listed if each is not None and len(each.labels) > 1]  # "… 包括A、C、D。"
    alone = task.multiple is not False and len({frozenset(mention.labels) for mention in lists}) == 1
    fits = alone and set(task.output.judged.right) <= set(lists[0].labels)
    return FoundAnswer(lists[0].labels, lists[0].start, lists[0].end) if fits else None


def _closing(task: ReadingTask, start: int) -> FoundAnswer | None:
    """The one option that the last concluding sentence names without denying anything, or the only sentence."""
    sentences = list(_P.sentence.finditer(task.output.codes))
    for match in reversed(sentences):
        last, hence = match is sentences[-1], match.group().rfind(Token.HENCE)
        part = match.group()[max(hence, 0) :]  # of "they eat there, so (E) is a choice" what follows "so"
        ends = (last and _P.is_it.search(part)) or (match.start() == 0 and _P.is_option.search(part))
        concludes = Token.HENCE in part or len(sentences) == 1 or ends
        if match.start() < start or _P.denies.search(part) or not concludes:  # a denial concludes nothing
            continue
        words = task.output.words[match.end() - len(part) : match.end()]
        named = [word[3] for word in words if word[3] and not word[3].weak]
        labels = {label for mention in named for label in mention.labels}
        if Token.HENCE in part or named:
            return FoundAnswer(tuple(labels), named[0].start, named[-1].end) if named and len(labels) == 1 else None
    return None


def verdicts(task: ReadingTask) -> FoundAnswer | None:
    """Options judged one by one: the odd one out, or, where several answers are asked for, the right ones."""
    right, wrong, start, end = task.output.judged
    if task.output.wrong:
        right, wrong = wrong, right
    complete = set(right + wrong) == set(task.output.options)  # every option has its verdict
    # A错误 is said of an option, not read from 不是 in its passage
    claimed = task.claims("judged") and not task.output.wrong
    if task.multiple:
        chosen = right if complete else ()
    elif not complete and breaks_off(task.output.text):
        chosen = ()
    elif len(right) == 1 and (
        wrong or task.output.wrong or _names_all(task) or _P.last_verdict.search(task.output.codes)
    ):
        chosen = right
    elif not right and not claimed and len(wrong) == len(task.output.options) - 1 > 1:
        # all others are ruled out, in a text that does not break off before the last one
        chosen = tuple(set(task.output.options) - set(wrong)) if _P.ended.search(task.output.text) else ()
    else:
        odd = (len(right) > 1 and complete) or (not right and _P.for_wrong.search(task.output.text))
        chosen = wrong if len(wrong) == 1 and odd else ()
    return FoundAnswer(chosen, start, end) if chosen else None


def _names_all(task: ReadingTask) -> bool:
    """Return whether a text that does not break off names every option (A对。B起效慢；C、D、E禁用)."""
    named = {label for mention in task.output.mentions for label in mention.labels}
    ended = task.output.codes.endswith(Token.RIGHT) or _P.ended.search(task.output.text)
    return bool(ended) and named == set(task.output.options)


def odd_one_out(task: ReadingTask) -> FoundAnswer | None:
    """The option that stands against a list of all others (A、B、C、D都能降压，而E不能)."""
    if task.multiple is not False or _P.unsure.search(task.output.text):
        return None
    lists = [mention for mention in task.output.mentions if len(mention.labels) > 1]
    alone = [mention for mention in task.output.mentions if len(mention.labels) == 1]
    if len(lists) != 1 or len(lists[0].labels) != len(task.output.options) - 1 or len(lists[0].labels) < 2:
        return None
    if (predicate := _P.of_all.match(task.output.text, lists[0].end)) is None:  # 均能降压, 都不是, are all
        return None
    rest = tuple(set(task.output.options) - set(lists[0].labels))
    if {mention.labels for mention in alone} == {rest} and _names_all(task):
        return FoundAnswer(rest, alone[-1].start, alone[-1].end)
    # A、B、D、E均为正确叙述 where the wrong one is asked for, A、B、D、E均不是 where the right one is
    turned = task.output.wrong is (predicate["negated"] is None)
    return None if alone or not turned else FoundAnswer(rest, lists[0].start, predicate.end())


def ranked(task: ReadingTask) -> FoundAnswer | None:
    """The first of options that the text puts in order, or the likeliest: B > A > D, B(90%),A(5%)."""
    if task.multiple:
        return None
    text, mentions = task.output.text, task.output.mentions
    for mention in mentions:
        if _P.order.search(text[max(0, mention.start - 30) : mention.start]):  # 可能性从高到低：B、A、D
            return FoundAnswer(mention.labels[:1], mention.start, mention.end)
    percentages = any("%" in body for body in task.output.options.values())  # then B 90% may quote an option: 90%
    percents = [] if percentages else list(_P.share.finditer(text))
    shares = {match["label"] or match["after"]: float(match["share"] or match["before"]) for match in percents}
    likeliest = [label for label, share in shares.items() if share == max(shares.values())]
    if len(shares) > 1 and len(likeliest) == 1 and set(shares) <= set(task.output.options):
        return FoundAnswer(tuple(likeliest), percents[0].start(), percents[-1].end())
    # B > A > D
    chain = [before for before, after in pairwise(mentions) if _P.above.fullmatch(text, before.end, after.start)]
    if len(chain) > 1 and len(chain[0].labels) == 1:
        return FoundAnswer(chain[0].labels, chain[0].start, chain[0].end)
    return None


def predicated(task: ReadingTask) -> FoundAnswer | None:
    """The options of which the text says what the stem asks for: 阿司匹林、氯吡格雷属于抗血小板药物;肝素属于抗凝药."""
    stem = task.output.stem.lower()
    stem = " ".join(stem.split()) if stem.isascii() else "".join(stem.split())
    predicated_mentions = []
    for mention in task.output.mentions if stem else ():
        match = _P.predicate.match(task.output.text, mention.end)
        denied = bool(match and (match["not"] or match["isnt"]))
        # 抗血小板药物 of 属于抗血小板药物
        what = match["what"].lower() if match and denied is bool(task.output.wrong) else ""
        # Characters in common: beta-lactam, 血小板药; 是子宫内膜癌三联征 says nothing where its 高危因素 are asked for.
        if what.isascii():
            fits = len(what) > 10 and what[:11] in stem and " not " not in what
        else:
            fits = what[-2:] in stem[-10:] and any(what[at : at + 4] in stem for at in range(len(what) - 3))
        predicated_mentions += [mention] if fits else []
    labels = {label for mention in predicated_mentions for label in mention.labels}
    fits = len(labels) == 1 if task.multiple is False else len(labels) > 1
    if not fits or not _P.ended.search(task.output.text):
        return None
    return FoundAnswer(tuple(labels), predicated_mentions[0].start, predicated_mentions[-1].end)


def worded(task: ReadingTask) -> FoundAnswer | None:
    """The option that the conclusion has in other words: … is to produce and circulate CSF (production of CSF)."""
    text, words = task.output.text, task.output.words
    sentences = list(_P.sentence.finditer(task.output.codes))
    for match in reversed(sentences) if not task.multiple else ():
        part, start, end = match.group(), words[match.start()][1], words[match.end() - 1][2]
        concludes = Token.HENCE in part or (match is sentences[-1] and _P.ended.search(text))
        if not concludes or match.start() < task.output.below:
            continue
        named = in_words(task.output.options, text[start:end])
        # a sentence that is not called a conclusion names the only option of the whole text
        alone = Token.HENCE in part or len(in_words(task.output.options, text)) == 1
        doubted = _P.denies.search(part) or _P.unsure.search(text, start, end) or _P.either.search(text, start, end)
        if len(named) != 1 or not alone or doubted or len("".join(stems(task.output.options[named[0]]))) < 5:
            return None
        return FoundAnswer((named[0],), start, end)
    return None


def only_named(task: ReadingTask) -> FoundAnswer | None:
    """The only letters that stand by themselves, or the only option whose text is named, unless that is doubted."""
    text, letters = task.output.text, [word[3] for word in task.output.words if word[0] == Token.LETTERS and word[3]]
    named = letters or [mention for mention in task.output.mentions if not mention.weak]
    others = task.multiple is not False and Token.OTHERS in task.output.codes  # 其他如A
    denied = others or task.claims("judged", stance=Stance.DENIED)
    if len({frozenset(mention.labels) for mention in named}) != 1 or denied or _P.asks.search(text):
        return None
    several = task.multiple is False and len(named[0].labels) > 1
    if several or (letters and _P.named_thing.search(text, max(0, letters[0].start - 20), letters[0].end + 3)):
        return None
    # of texts alone, one in the last sentence, and not 补液和胰岛素
    beside = (text[max(0, place.start - 2) : place.start] + "_" + text[place.end : place.end + 2] for place in named)
    loose = task.multiple or task.output.wrong or _P.unsure.search(text) or any(map(_P.beside.search, beside))
    if not letters and (loose or not _P.ended.search(text) or _P.followed.search(text, named[-1].end)):
        return None
    return FoundAnswer(named[0].labels, named[0].start, named[-1].end)


def suggested(task: ReadingTask) -> FoundAnswer | None:
    """The only option that the findings are said to speak for: … is classic for aortic stenosis."""
    claims = task.claims("suggested")
    if len({claim.labels for claim in claims}) != 1 or len(claims[0].labels) > 1:
        return None
    return None if task.multiple or _P.unsure.search(task.output.text) else _last(claims)


_IN_ORDER = (
    *(opening, stated, everything, last_line, ranked, concluded, head, quoted, verdicts, odd_one_out),
    *(predicated, first_listed, worded, suggested, only_named),
)
RULES: Mapping[str, Rule] = {rule.__name__: rule for rule in _IN_ORDER}
"""Rules by name, in the order in which they are tried."""
