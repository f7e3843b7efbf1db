"""Copies and twins in styles that the deduplication was not tuned on: how far its figures carry.

The report tells them apart from those that ``generate`` makes.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable

from build_dataset.schemas.identity import content_hash
from build_dataset.schemas.questions import Option, Question

Maker = Callable[[Question, random.Random], Question | None]
"""Makes another question of one, or none where it does not lend itself to that."""

_ALIKE = (
    "己已 日曰 末未 人入 土士 干千 大太 天夭 风凤 贝见 血皿 肓盲 脉脈 胃冒 肺肿 肝肚 鼻臭 疸疽 痈痢 症证 "
    "瘘瘦 囟卤 髂骼 胰姨 脾牌 腔腟 骨胃 肋助 肌肪 腺线 候侯 晴睛 茎荃 芩苓 苓荟 蒿篙 术木 枝枚 桂挂 柱拄 "
    "汤场 丸九 散敢 炎灸 灸炙 炙灸 渗掺 泻泄 消清 洒酒 汗汁 诊珍 疗辽 检捡 查杳 剂刘 量重 治冶 洽冶 状壮 "
    "征怔 型刑 类粪 素索 菌茵 霉莓 病痛 毒素 感惑 染柒 呼吁 吸级 心必 率牵 压庄 高亮 低抵 应庆 用角 首百 "
    "选迭 是昰 的旳 者老 患惠 为力 不下 可司 属厲 于干 主王 要耍 常當 见贝 因困 发友 生主 临监 床庆 表袤 "
    "现规 体休 温湿 "
)
"""Characters that look alike, to recognition and to typists."""
_LOOK_ALIKE = dict(_ALIKE.split()) | {other: one for one, other in _ALIKE.split()}
_OPPOSITES = ("左右", "高低", "急慢", "内外", "增减", "升降", "早晚", "轻重", "强弱", "寒热")
_OPPOSITE = {pair[place]: pair[1 - place] for pair in _OPPOSITES for place in (0, 1)}
_PUT_OTHERWISE = (
    ("哪项", "哪一项"), ("哪种", "何种"), ("最常见的", "最多见的"), ("不正确", "有误"), ("错误的是", "描述有误的是"),
    ("正确的是", "说法正确的是"), ("包括", "包含"), ("患者", "该患者"), ("应考虑", "考虑"), ("首选的", "首选"),
    ("有关", "关于"), ("关于", "对于"), ("下列", "下述"), ("以下", "下述"), ("叙述", "表述"), ("治疗", "的治疗"),
    ("特点", "的特点"), ("引起", "可引起"), ("导致", "可导致"), ("称为", "叫做"), ("属于", "属"), ("为", "是"),
    ("是", "为"),
)  # fmt: skip
_HEADS = ("12．", "3、", "【单选题】", "（A1型题）", "[单选] ", "第8题 ", "〔1分〕")
_TRADITIONAL = dict(
    zip(
        "国医药学关于错误项诊断检查应选择治疗结节脏肾胆肿脉脑经络虚实热湿气伤产妇儿术压血细胞养维时间显见为说叙发现认对质剂类过转",
        "國醫藥學關於錯誤項診斷檢查應選擇治療結節臟腎膽腫脈腦經絡虛實熱濕氣傷產婦兒術壓血細胞養維時間顯見為說敘發現認對質劑類過轉",
        strict=True,
    )
)


def with_texts(base: Question, stem: str, texts: list[str]) -> Question:
    """The question with another stem and other texts of its options."""
    options = [Option(label=option.label, text=text) for option, text in zip(base.options, texts, strict=True)]
    said = content_hash(stem, texts, base.shared_stem)
    return base.model_copy(update={"stem": stem, "options": options, "content_hash": said})


def look_alike(base: Question, rng: random.Random) -> Question | None:
    """3 % of the characters, one at least, read by an unsure recognition as ones that look like them."""

    def misread(text: str) -> str:
        return "".join(_LOOK_ALIKE.get(char, char) if rng.random() < 0.06 else char for char in text)

    made = with_texts(base, misread(base.stem), [misread(option.text) for option in base.options])
    return made.model_copy(update={"confidence": 0.9}) if made != base else None


def mistyped(base: Question, rng: random.Random) -> Question | None:
    """One character of the stem typed as one that looks like it, in a table, which nothing read."""
    places = [place for place, char in enumerate(base.stem) if char in _LOOK_ALIKE]
    if not places:
        return None
    at = rng.choice(places)
    stem = base.stem[:at] + _LOOK_ALIKE[base.stem[at]] + base.stem[at + 1 :]
    return with_texts(base, stem, [option.text for option in base.options])


def headed(base: Question, rng: random.Random) -> Question:
    """A number, a kind or the marks left before the stem, a blank after it."""
    stem = rng.choice(_HEADS) + base.stem + rng.choice(("", "（　）", "____。", "？"))
    return with_texts(base, stem, [f"{option.text}；" for option in base.options])


def put_otherwise(base: Question, rng: random.Random) -> Question | None:
    """Two set phrases exchanged."""
    fitting = [pair for pair in _PUT_OTHERWISE if pair[0] in base.stem]
    stem = base.stem
    for old, new in rng.sample(fitting, min(2, len(fitting))):
        stem = stem.replace(old, new, 1)
    return None if stem == base.stem else with_texts(base, stem, [option.text for option in base.options])


def case_apart(base: Question, _: random.Random) -> Question | None:
    """The case as a shared stem, the question alone as the stem."""
    found = re.fullmatch(r"(.{15,}[。；])([^。；]{4,})", base.stem)
    if not found:
        return None
    said = content_hash(found[2], [option.text for option in base.options], found[1])
    return base.model_copy(update={"shared_stem": found[1], "stem": found[2], "content_hash": said})


def traditional(base: Question, _: random.Random) -> Question | None:
    """Common characters in their traditional form."""
    table = str.maketrans(_TRADITIONAL)
    made = with_texts(base, base.stem.translate(table), [option.text.translate(table) for option in base.options])
    return made if made != base else None


def opposite(base: Question, rng: random.Random) -> Question | None:
    """One character of the stem exchanged for its opposite."""
    places = [place for place, char in enumerate(base.stem) if char in _OPPOSITE]
    if not places:
        return None
    at = rng.choice(places)
    stem = base.stem[:at] + _OPPOSITE[base.stem[at]] + base.stem[at + 1 :]
    return with_texts(base, stem, [option.text for option in base.options])


def letter(base: Question, rng: random.Random) -> Question | None:
    """Another vitamin, group or type."""
    places = [found.start() for found in re.finditer("(?<![A-Za-z])[A-EⅠ-Ⅴ](?![A-Za-z])", base.stem)]
    if not places:
        return None
    at = rng.choice(places)
    others = "ABCDE" if base.stem[at].isascii() else "ⅠⅡⅢⅣⅤ"
    stem = base.stem[:at] + rng.choice(others.replace(base.stem[at], "")) + base.stem[at + 1 :]
    return with_texts(base, stem, [option.text for option in base.options])


def option_number(base: Question, rng: random.Random) -> Question | None:
    """Another number in one option."""
    texts = [option.text for option in base.options]
    places = [place for place, text in enumerate(texts) if re.search("[0-9]", text)]
    if not places:
        return None
    at = rng.choice(places)
    found = rng.choice(list(re.finditer("[0-9]+", texts[at])))
    number = str(int(found.group()) + rng.randint(1, 9))
    texts[at] = texts[at][: found.start()] + number + texts[at][found.end() :]
    return with_texts(base, base.stem, texts)


HELD_OUT_COPIES: dict[str, Maker] = {
    "look_alike": look_alike,
    "mistyped": mistyped,
    "headed": headed,
    "put_otherwise": put_otherwise,
    "case_apart": case_apart,
    "traditional": traditional,
}
HELD_OUT_TWINS: dict[str, Maker] = {"opposite": opposite, "letter": letter, "option_number": option_number}
