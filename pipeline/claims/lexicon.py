"""The words that answers are stated with, in Chinese and English: one row a kind of word, tried in this order.

Texts are folded first, so that traditional cue characters and full-width signs match as well. Every repeat is bounded:
what is matched was written by others.
"""

from __future__ import annotations

import re
from typing import NamedTuple


class Word(NamedTuple):
    """A kind of word: its one-character code in the productions, and what it looks like."""

    code: str
    pattern: str


_THING = (
    r"(?:选项|一项|项|说法|叙述|描述|表述|做法|诊断|治疗|药物|措施|方法|检查|处理"
    r"|因素|原因|疾病|组合|论述|陈述|判断|结论|答案)"
)
_FIT = r"(?:符合题意|符合要求|最?(?:合适|恰当|准确|适宜|合理)|成立|没有?问题|无误)"
_MISFIT = (
    r"(?:不(?:正确|对的|符合题意|符合|恰当|合适|准确|成立|妥|当|适宜|合理|属于|适用|支持|考虑)"
    r"|错误|错的|有误|(?<!没)有问题|欠妥)"
)

WORDS = (
    # Not words of the answer at all: what follows is skipped as if it were not there.
    Word(
        "",
        r"(?:选项|选择题|\boptions?\b(?!\s(?:is|are|would|should))|(?i:\bletter\b))(?=\s?[\"'(\[:]{0,2}\s?\ue000)",
    ),
    Word("", r"</?(?:answer|final)>(?=\s{0,2}(?:\Z|\n))"),
    # An answer that is called wrong, second best, or somebody's: 错误答案, 次佳答案, 干扰项, the wrong answer.
    Word(
        "Z",
        r"(?:错误的?|不正确的?|干扰|非|并非|次[佳优选])答案|干扰项|备选(?:答案)?(?!项)|(?i:\b(?:wrong|incorrect|second(?:[\s-]best)?)\s(?:answers?|choice)\b|\bdistractors?\b)",
    ),
    # The noun of the answer: 正确答案, 【答案】, the correct option, \boxed{, <answer>.
    Word(
        "K",
        r"(?:(?:正确|标准|参考|最终|最佳|最合适|最恰当|最准确|唯一)的?)?(?:答\s?案|正解|答(?=\s?[:是])|解(?=\s?:))(?:选项|的?字母|编号)?"
        r"|结论(?=[\"』」】\])*\s]{0,4}(?:[:是为]|应))"
        r"|<answer>|\\boxed\s?\{|\\fbox\s?\{|(?<![#\w])####(?=\s?\ue000)"
        r"|(?i:(?<=\bcorrect\s)one\b|(?<=\bright\s)one\b|(?<=\bbest\s)one\b)"
        r"|(?i:\b(?:(?:single\s)?(?:final|correct|best|right|appropriate|most\s[a-z]{4,12})[\s_])?(?:answers?|ans)\b(?!\s?(?:choices|options|each|the\squestion))"
        r"(?:\s(?:choice|option|letter)\b)?)"
        r"|(?i:\b(?:final|correct|best|right|my|preferred|chosen|most\s[a-z]{4,12})\s(?:answer\s)?(?:options?|choices?|selection|response)\b)",
    ),
    # Everything, and everything but: 以上都是, 全选, all of the above; 除C外, all except C.
    Word(
        "E",
        r"(?:除了?|除去)(?=[^,。;\n]{1,24}(?:以?外|之外)|\s?\ue000,?\s?其[余他它])|(?i:\b(?:(?:all|everything|anything)\s(?:but|except)|except)\s(?:for\s)?(?=(?:option\s)?\(?\ue000))",
    ),
    Word(
        "A",
        r"(?:以上|上述|所有选项|全部)(?:选项|说法|各项|情况|答案){0,2}(?:[都均]|全部?)?(?:是|对|正确|可以|符合|选|包括)"
        r"|全选|全对|都选|(?:以上|上述)?(?:[四五六4-6]个?(?:选?项)|[三四五六]者|各项|全部选项|所有选项)(?:的?(?:说法|叙述|描述))?[均都全]{0,2}(?:是)?(?:正确|对|符合|属于|(?<=[均都])选)"
        r"|(?i:\ball\s(?:of\s)?(?:the\s)?(?:above|options|choices|four|five)(?:\s(?:options|choices|statements))?(?:\sare\s(?:correct|true|right))?\b)",
    ),
    # Another question's answer: 如果问的是…, if asked for …
    Word(
        "Q",
        r"(?:如果|若|假如|要是)(?:题目|本题)?(?:是?问|要求)"
        r"|(?i:\bif\s(?:the\squestion|it|they|we|you)?\s?(?:were\s|was\s|had\s|is\s)?ask(?:s|ed)\b)",
    ),
    # Only supposed, asked, or said by others.
    Word(
        "q",
        r"如果|若(?!干)|假如|假设|假定|要是|倘若|即使|即便|为什么|为何|何不|是否|(?i:\b(?:if|whether|suppose|why|were\sit|had\sit)\b)",
    ),
    Word(
        "o",
        r"有人|有的|有些|与其|\d%的?(?:把握|概率|可能性?)?(?=选)|小[\u4e00-\u9fff](?=[选答说]|认为)|(?:同学|学生|网友)[甲乙丙丁]?(?=[选答说]|认为)|许多人|很多人|(?:很多|不少|部分)?考生|部分人|很?容易|易(?=误|被|错|选)|(?i:\b(?:tempt(?:ing|ed)\sto|one\smight|(?:some|many|most)\s(?:people|students|candidates|examinees|may|might|would))\b)",
    ),
    Word(
        "p",
        r"曾|最?一?开始(?=想|以为|认为|选|觉得|时)|一开始|起初|起先|本来|最初|初看|乍看|看似|原(?=选|以为|认为)|貌似|(?i:\b(?:initially|at\sfirst|originally|seemingly)\b)",
    ),
    # Taking back: wait, 不对. It says of what stood before it that it was wrong.
    Word(
        "V",
        r"(?<![\w\u4e00-\u9fff])不(?=[,!])|(?<![是不])不对(?=[,。!?\s…]|\Z)|错了|等等(?=[,。!…])|等一下|抱歉|说错|写错|重新(?:考虑|分析|审题|思考|看)|再想|(?i:\b(?:wait|hmm|actually\sno)\b)",
    ),
    Word(
        "B",
        r"更正(?:为)?|改[为成选]|换成|修正为|不如(?=[选用]|考虑)|纠正为|而(?:应该?)?是|(?:其实|实际上?|实则)(?:应该?)?(?:是|为|选)?|(?i:\bbut\srather\b|\brather,)"
        r"|(?i:\b(?:chang(?:e|ed|ing)|correct(?:ed|ing)?|revis(?:e|ed|ing)|switch(?:ed|ing)?)\s(?:it|(?:my|the)\s(?:final\s)?(?:answer|choice|selection))\s(?:to\b|(?=from\b)))",
    ),
    # But: not A but B.
    Word("b", r"(?i:\bbut(?=\s(?:option\s)?\(?\ue000))"),
    # Comparing: D不如C, A优于B, B比A更合适, more likely.
    Word("<", r"不如|不及|逊于|(?i:\b(?:inferior\sto|worse\sthan)\b)"),
    Word(
        ">",
        r"优于|好于|胜过|(?:相?比|较)(?=\s?\ue000)|(?i:\b(?:better\sthan|superior\sto|preferred\s(?:over|to))\b)",
    ),
    Word(
        "G",
        r"[是为]?最(?:合适|恰当|佳|优|可能|符合)的?(?:选项|一项|项|诊断|选择)?(?=[。,;!\n]|\Z)"
        r"|(?:更|比?较)(?:为)?(?:合适|恰当|准确|适宜|合理|贴切|可能(?=[,。;!\n]|\Z)|佳|优)"
        r"|(?i:\b(?:(?:is|are|was|seems?|appears?)\s)?(?:far\s|much\s|the\s)?(?:more\s(?:likely|probable|appropriate|suitable|consistent)|better(?=[.,;\n]|\Z))\b)",
    ),
    # Ruling out: 排除, 误选, rule out.
    Word(
        "X",
        r"(?:可以?|应该?|首先|故|能)?(?:被|给)?(?:排除|剔除|去掉|划掉)|误(?:选择?|以为|认为|答)(?:了|为|成)?|不予?考虑|不(?:推荐|建议|同意|赞成)|[禁忌停]用(?=\s?\ue000)"
        r"|(?i:\b(?:rul(?:e|es|ed|ing)\sout|(?:can\s(?:also\s)?be\s|be\s)?(?:ruled\sout|eliminat(?:e|es|ed|ing)|exclud(?:e|es|ed|ing)|discard(?:ed)?|dismiss(?:ed)?)|not\srelevant)\b)",
    ),
    # Lists of those that do and do not: 属于：A、B 不属于：C.
    Word("n", r"不属于[^,。;:\n\ue000]{0,8}:"),
    Word("S", r"属于[^,。;:\n\ue000]{0,8}:"),
    # Those that are not asked for where others are: 错误的是, 不属于…的有.
    Word(
        "U",
        rf"(?:{_MISFIT}|不包括)[^,。;:\n\ue000]{{0,8}}?的?{_THING}{{0,2}}(?:应该?|就)?(?:是|为|有|包括)(?![不否])\s?:?",
    ),
    # All but those named: 其余, the others.
    Word(
        "O",
        r"其[他余它](?:的?(?:选项|各项|几项|几个|说法))?"
        r"|(?i:\b(?:the\s)?(?:others?|rest|remaining)(?:\s(?:options|choices|ones))?\b)",
    ),
    # The one that is asked for: …的是, 最佳选项为, 只有, the most likely diagnosis is.
    Word(
        "S",
        rf"的{_THING}{{0,3}}(?:应该?|就|只)?(?:是|为|有|包括)(?!不)\s?:?"
        rf"|(?:正确|错误|不正确|不当|恰当|合适|适宜|符合题意|符合|最佳|最合适|最恰当|最可能|首选|有误)的?{_THING}{{1,2}}(?:应该?|就)?(?:是|为|包括|有|:)\s?:?"
        r"|(?:正确|错误|不当|恰当|合适|适宜|符合)的[^\s,。;:\ue000]{1,8}?(?:是|为|包括|有)\s?:?"
        r"|(?:最(?:可能|符合|合适|恰当|佳)的?)?(?<!\ue000)(?:诊断:?|选项)(?:是|为)|最(?:可能|符合|支持|倾向于?)的?(?:应该?|就)?[是为]|诊断:|诊断考虑[是为]?|考虑(?:诊断)?为|(?:只|仅)?剩下?(?!余)|只有|唯有|唯一|仅有?|,\s?(?:也就是|也即|即)(?:选项)?\s?",
    ),
    Word(
        "M",
        r"(?i:\b(?:most|least|more|best|correct|right|only|first-line|incorrect|false|wrong|appropriate)\b(?:\s(?:likely|appropriate|probable|suitable|important"
        r"|accurate|relevant|common|consistent|correct))?\s(?!and\b|or\b|but\b|because\b|than\b|than)(?:[a-z][a-z'-]{1,20}))|(?i:\bthe\sbest\s(?!answers?\b|options?\b|choices?\b|responses?\b|selections?\b|fit)[a-z][a-z'-]{1,20})|\b(?i:treatment|drug|test|diagnosis|step)\sof\schoice\b",
    ),
    # Judgements; the wrong ones first, as 不正确 holds 正确.
    Word("D", r"(?:的?(?:说法|叙述|描述|表述|陈述|观点)(?:是|也|则|都|均)?)(?=不|错|有误|正确|对|欠)"),
    Word(
        "W",
        rf"(?:是|为|也|都|均|则|就|显然|并){{0,3}}(?:{_MISFIT}|错(?=[,。;)\s]|\Z)|不符(?=\s?(?:[|,。;\n)]|\Z))|[❌✗✘✖]|×(?![\s\d]{{0,3}}\d)|否(?=\s?(?:[|,。;\n)]|\Z))|(?<=[|:])\s?(?i:no)(?=\s?[|,.;\n]|\s?\Z)|不是(?=[,。;\n|]|\Z)|不(?:应该?|宜|能)?选(?=[,。;\n]|\Z))"
        r"|(?i:\b(?:(?:is|are|was|be|seems?)\s(?:also\s|therefore\s|clearly\s|both\s|all\s)?)?(?:incorrect|wrong|false|inaccurate|inappropriate|unlikely|less\slikely|invalid|irrelevant|contraindicated|out(?=[,.;\n]|\Z)"
        r"|(?:does|do|did)(?:n't|\snot)\s(?:fit|match|explain|apply|help|work|make\ssense|account|address|correspond|meet)|(?:not|n't)\s(?:be\s)?(?:the\s)?(?:correct|right|true|likely|accurate|appropriate|relevant|best|a\s(?:good|valid|correct|likely|common)|fit|apply|consistent)))\b",
    ),
    Word(
        "R",
        rf"(?:是|为|也|都|均|则|就|显然|才|最){{0,3}}(?:正确|{_FIT}|符合(?=[,。;)|\s]|\Z)|对的|(?<!可能)对(?=[,。;)\s]|\ue000{{1,9}}[错对]|\Z)|[✅✔✓☑√]|属于(?=[,。;|\n]|\Z)|可能性最大|更符合)"
        r"|(?<=[|:])\s?(?:是|(?i:yes))(?=\s?(?:[|,。;.\n)]|\Z))"
        r"|(?i:\b(?:(?:is|are|was|be|seems?)\s(?:also\s|therefore\s|clearly\s|both\s|all\s|indeed\s)?(?:the\s)?)?(?:correct|right|true|accurate|the\sbest|most\s(?:likely|appropriate|accurate|relevant)|best\sfits?|fits(?:\s(?:best|perfectly|well))?|makes\s(?:the\smost\s)?sense)\b)",
    ),
    Word("h", r"可以?选用(?!的)"),
    # Pointing at a letter: 更支持C.
    Word(
        "C", r"(?:[更最]支持|倾向于?|指向|对应|可?得[出到]?|锁定|[只须需宜]能?用)(?=\s?(?:的?选项)?\s?\ue000)"
    ),
    # Second to what was chosen before it: 首选C，次选D.
    Word("h", r"次选|其次(?:选|是|为|考虑)?(?=\s?\ue000)"),
    # Choosing: 故选, 应选, 首选用, I would go with; never 选项.
    Word(
        "C",
        r"(?:故|应该?|因此|所以|综上|可|当|宜|则|只能|我|本题|此题|最终|必须|需|建议|首|会|而|答案){0,4}"
        r"(?:选(?!项|出|取|用|自|中了)择?(?!题)|选(?:取|用)|[换改]用|勾选)(?:的?(?:答案|选项)?(?:应该?)?(?:是|为))?"
        r"|(?i:\b(?:I(?:'d|'ll|\swould|\swill|\sthink|\sbelieve)?\s(?:it(?:'s|\sis)\s)?(?:say|choose|pick|select|go\swith|opt\sfor|chose|picked)?|choose|select|pick|go(?:ing)?\swith|opt\sfor|(?:points?|corresponds?)\sto|leaves?(?:\sus)?(?:\swith)?|left\swith)(?=\s|:))",
    ),
    Word(
        "x",
        r"不(?:对称|同|仅|但|光|足|良|全(?!对)|规则|稳|典型|明显|等|过|少|久|断|便|适(?!合|宜|用)|存在|难)",
    ),
    # Denying.
    Word(
        "n",
        r"不(?:能|可|会|要|宜|应该?|可能|一定)?是|并?非|而不|不(?:能|可|会|要|宜|应该?)?|没有?|未|勿|别(?=[选填再被误])|无法|(?i:\bfrom(?=\s\(?\ue000)|\b(?:not|cannot|never|nor|neither|rather\sthan|instead\sof|(?:is|are|was|do|does|did|would|should|could|ca)n't)\b)",
    ),
    # Doubting.
    Word(
        "h",
        r"之间|二选一|(?:难以|无法)(?:判断|确定)|(?:也|很)?(?:可能|或许|也许|大概|似乎|好像|恐怕)(?:也?是|为|选)?|(?i:\b(?:maybe|perhaps|possibly|might|could|may|either|possible|probably|tempting|attractive|plausible)(?:\sbe)?\b)",
    ),
    # Concluding.
    Word(
        "c",
        r"因此|所以|故(?!障|意)|综上(?:所述)?|总之|由此可见|可见|因而|综合(?:以上|来看)?(?:分析)?|最终|于是|(?i:\b(?:therefore|thus|hence|so|in\sconclusion|based\son|overall|finally|in\ssummary|to\ssum\sup)\b)",
    ),
    # Being.
    Word(
        "i",
        r"(?:应该?|就|才|即|则|只|主要|分别){0,3}(?:是|为|即|有|包括|应为)|(?i:\b(?:is|are|was|would\sbe|should\sbe|must\sbe|will\sbe|being)\b)|[=→⇒]|(?i:'s\b)",
    ),
    Word(":", r":"),
    # Words that change nothing between the others.
    Word(
        "",
        r"(?:应该?|就|才|也|则|显然|确实|都|均|本题|此题|该题|这道?题|我|的|吧|了|呢|一个|只[能有]|就只|选?项|所以说|那么|因为)|(?i:\b(?:the|a|an|most|likely|therefore|clearly|also|this|that|would|should|be|it|to|following|both|all|only|option|choice|of|these|letter|text|mathrm|textbf|mathbf|Option)\b)",
    ),
    # What ends a clause, a sentence, a line.
    Word(",", r",|、"),
    Word(".", r"[。;!?…]|[.](?=\s|\Z|[\"')\]])"),
    Word("|", r"\|"),
    Word("/", r"\n"),
)
"""Codes: K the answer · Z a wrong answer · C choose · S, M the one that · A everything · E except · R right · W wrong
D its statement · X ruled out · n not · Q, q supposed · o others · p at first sight · h perhaps · V no, wait
B but rather
c hence · i is. An empty code is skipped."""

LEXICON = re.compile("|".join(f"(?P<w{at}>{word.pattern})" for at, word in enumerate(WORDS)), re.ASCII)
CODES = {f"w{at}": word.code for at, word in enumerate(WORDS)}
