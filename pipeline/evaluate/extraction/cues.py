"""The words that Chinese exam answers are stated with, as patterns over folded text."""

from __future__ import annotations

import re

_COPULA = r"(?:[^\W不非没未错A-Za-z0-9]{0,6}?(?:是|为|选(?!项)择?|即|包括|有)){0,4}"
KEY = re.compile(
    rf"(?:答\s*案|正解|结论(?=\s*(?:[:是为]|应)))(?:选项|的?字母|编号)?[\"”』」】\]]*\s*{_COPULA}\s*[\"“』」】\]]*\s*[:=]?\s*(?:应?(?:是|为|选(?!项)择?))?"
    r"|(?i:\b(?:final\s+|correct\s+|best\s+)?(?:answers?|choice|option)\b[\"'\])]*\s*(?:is|are|:|=|should\s+be)+\s*:?)"
    r"|(?i:\bI\s+(?:think|believe)\s+it(?:'s|\s+is)\s)"
    r"|\\boxed\s*\{"
)
"""答案是, 【答案】, answer:, a LaTeX box."""
CHOOSE = re.compile(
    r"(?:故|应该?|因此|所以|综上|可|当|宜|则|只能|我|本题|最终|必须|需|建议|首|会|而){0,4}(?:此题|本题)?"
    r"(?:选(?!项|出|取|用)择?|选(?:取|用)|[换改]用|勾选)(?:的?(?:答案|选项)?(?:应该?)?(?:是|为))?\s*[:]?"
)
"""故选, 应选, 我选, 首选用 …; never 选项."""
THE_ONE_IS = re.compile(
    r"的(?:选项|一项|说法|叙述|描述|表述|做法|诊断|治疗|药物|措施|方法|检查|处理|是选项|因素|原因|疾病|组合|论述|陈述){0,3}"
    r"(?:应该?)?(?:是|为|有|包括)\s*[:]?"
    r"|(?:正确|错误|不正确|符合题意|最佳|最合适|最恰当)(?:的)?选项(?:应该?)?(?:是|为)?\s*[:]?"
    r"|(?:正确|错误|不当|恰当|合适|适宜|符合)的[^\s,。;:A-Z]{1,8}?(?:是|为|包括|有)\s*[:]?"
    r"|(?:只|仅)?剩下?|只有|唯有|仅有?|,\s*(?:也就是|也即|即)\s*"
)
"""…的是, 正确选项为, 正确的用法包括, 剩下, 只有."""
CONCLUDE = re.compile(
    r"应该?(?=全选)|(?:因此|所以|故|综上(?:所述)?|总之|由此可见|可见|因而|综合(?:以上)?(?:分析)?|最终)\s*,?\s*(?:就?只(?:能|有))?"
    r"(?:本题|此题)?(?:正确)?(?:应该?)?(?:是|为)?\s*[:]?"
)
"""因此, 所以, 综上所述 …"""
CORRECT = re.compile(
    r"(?P<sure>更正为|改为|改选|修正为|纠正为)\s*[:]?|(?:\bbut(?:\s+rather)?\s|而是|应该?是|应该?为|实际上?(?:应该?)?(?:是|为)|其实(?:应该?)?(?:是|为))\s*[:]?"
)
"""而是, 应该是, 更正为: what follows takes back what was said."""
WRONG_BEFORE = re.compile(
    r"(?:不(?:应该?|可能|会)?是|不对|并非|错了|有误|更正|等等|等一下|修正|抱歉|重新|再想|纠正|wait|\bnot\b)[^\n]{0,24}\Z",
    re.IGNORECASE,
)
"""What must stand before 应该是 for it to be a correction."""
NOT_MEANT = re.compile(
    r"(?:不能?|不应该?|不宜|不可|不会|不要|勿|别|非|未|没有?|误|错|如果|若|假如|假设|假定|要是|倘若|即使|即便|有人|有的|有些"
    r"|为什么|为何|何不|是否|而非|而不|排除|干扰|许多人|很多人|考生|部分人|容易|易|曾|一开始|起初|最初|错误的?|原|\b[Nn]ot|n't)[^,。;!?…\n]{0,3}\Z"
)
"""Before a cue: it is denied, supposed, or somebody else's."""
HYPOTHETICAL = re.compile(
    r"(?:如果|若|假如|假设|假定|要是|倘若|即使|为什么|为何|是否|曾|一开始|起初|最初)[^,。;!?…\n]{0,8}\Z"
)
"""Before a cue: it is only supposed."""
NOT_AFTER = re.compile(
    r"\s*(?:选?项)?\s*[,]?\s*(?:(?:的话|时)|(?:这?(?:是|为|则|就|也|都|均|显然|说法|表述))*\s*"
    r"(?:错误|错的|错了|不对|不正确|不合适|不妥|不符|不恰当|不成立|不是|并不|不能|不应|并非|有误|可以?排除|被排除|排除))"
)
"""After letters: they are called wrong."""
COPULA_NOT_AFTER = re.compile(
    r"\s*(?:选?项)?\s*,?\s*(?:这?(?:是|也|都)?(?:不对|不成立|错了|不是(?!\s*(?:选项)?[A-Z])))|\s*(?:选?项)?\s*还是\s*(?:选项)?\s*[A-Z]"
)
"""After "答案是A": it is taken back, or is one half of a doubt. 错误 may be what is asked for, so it does not count."""
IS_KEY = re.compile(
    r"\s*(?:错误?,|对,|正确,)?\s*(?:选?项|才|就|即|应该?|都|均|,){0,4}(?:是|为|属于)(?:本题|该题|此题|唯一|的|最终){0,4}"
    r"(?:正确|最佳|标准|参考|最终|最合适|最恰当|最准确)?的?答案"
)
"""After a letter: 是正确答案."""
FOLLOWS = re.compile(
    r"\s*(?:[两二三四五六几][个者]?)?(?:选?项)?\s*(?:\Z|[^\w\s=×÷/+*%]|\n|(?:均|都|皆)?(?:正确|符合)|(?:才|就|应该?)?(?:是|为)(?:最|正|本|错)|最)"
)
"""After letters that are a clause by themselves."""
MARKED = re.compile(r"\(\s*(?P<labels>[A-Z]{1,10})\s*(?:项|选项)?(?P<verdict>对|错|正确|错误)")
"""A verdict in brackets after what it is about: (CE错), as Chinese explanations have it."""
VERDICT = re.compile(
    r"(?:不正确|不对|不符合|不恰当|不合适|不准确|错误|错的|有误|不成立|正确|对的|符合题意|合适|恰当|准确|成立"
    r"|(?:[✅✔✓☑√❌✗✘]|×(?![\s\d]*\d))|(?<!可能)[对错](?=[,。;)\s]|\Z)|不?符合(?=[,。;)\s]|\Z)|\b(?i:(?:in|not\s+)?correct|wrong|right)\b)"
)
"""What is said of an option."""
NAMES = re.compile(r"(?:包括|有|是|为|属于|:)\s*:?\s*")
"""What options are named after."""
ALL_CALLED = re.compile(
    r"\s*(?:[一两二三四五六几][个者]?)?(?:选?项)?的?(?:说法|叙述|描述|表述)?(?:均|都|也|则|是|为|皆|,)*"
    r"(?P<verdict>不?正确|不对|错误?|对(?=[,。;\s]|\Z)|不?符合|有误)"
)
"""What is said of several options at once."""
CALLED_WRONG = re.compile(r"不|错|有误|[❌✗✘×]|incorrect|not|wrong", re.IGNORECASE)
"""A verdict that is none in its favour."""
ALL = re.compile(
    r"(?:以上|上述|所有选项|全部)(?:选项|说法|各项|情况)*(?:都|均|全部?)?(?:是|对|正确|可以|符合|选|包括)|全选|全对|都选"
)
"""Everything is right."""
HEAD = re.compile(r"[\s,。.、:;!?)】\]-]*(?:(?:我的?)?(?:选择?|答|应选|故选)(?!项)\s*[:]?)?")
"""What may stand before an answer that opens the text."""
HEAD_FOLLOWS = re.compile(
    r"\s*(?:选项|项)?\s*(?:\Z|[^\w\s?]|\s|(?:是|为)(?=最|正|本|错|不)|正确|说法|错误|不正确)"
)
"""What may follow such an answer."""
DENIES = re.compile(r"不|非|无|未|没|排除|错|除了?|避免|禁")
"""A clause that may speak against what it names."""
CLAUSE = re.compile(r"[^。!?;\n]+")
"""A clause."""
ITEM = re.compile(
    r"(?:(?:^|[\n。;]|\s\s?)\s*(?:选项\s*)?(?P<label>[A-Z])(?![A-Za-z0-9])\s*(?:选项|项)?\s*[.:、,)]"
    r"|(?:^|\n)\s*\|\s*(?:选项\s*)?(?P<row>[A-Z])(?![A-Za-z0-9])\s*(?:选项|项)?\s*[|.:、]"
    r"|\b[Oo]ption\s+\(?(?P<option>[A-Z])(?![A-Za-z0-9])\)?\s+is\s"
    r"|(?:^|[\n。;,\s)①-⑩])\s*(?:而|但|只有|仅|选项)*\s*(?P<judged>[A-Z])(?![A-Za-z0-9]|[、和与及][A-Z])\s*(?:选项|项)?\s?"
    r"(?:[^\s,。;]{0,40}?(?:正确|错误|不对|符合题意|不符合)|(?:说法|叙述|显然|则|为|是|都|均)?[对错](?=[,。;)\s]|\Z)|\s?\(?[√×✅❌✔✓✗]))"
)
"""The beginning of what is said of one option."""
