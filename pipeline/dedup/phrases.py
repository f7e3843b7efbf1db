"""The set phrases of exam stems: what can be worded otherwise without changing the question.

Written for comparison keys (see ``keys``): lower case, simplified, without white space and punctuation.
"""

from __future__ import annotations


def _one_of(*lines: str) -> str:
    """A pattern for any of the words in the lines."""
    return "|".join(word for line in lines for word in line.split())


NEGATIVE_ASK = _one_of(
    "不正确 不对 不妥当? 不恰当 不适当 不准确 不合理 不合适 错误 有误 错",
    "除外 不包括 不包含 不属于? 不是 不为 不符合 不符",
)
"""Phrases that ask for the wrong option; they can stand for one another. ``除 ... 外`` is matched apart."""

EXCEPT = r"除(?:了|去)?(.{1,24}?)(?:以|之)?外"
"""``除 X 外``, which asks for the exception."""

POSITIVE_ASK = _one_of("正确 恰当 适当 合理 合适 包括 包含 属于? 符合")

_QUESTION_WORDS = _one_of(
    "下列 下面 以下 下述 关于 有关 对于 请问 请选出 选出",
    "哪一?[项个种类些点] 哪些 哪 何者 何种 何项 什么 一项 一种 其中 各项 选项",
)
_STATEMENTS = _one_of("叙述 描述 说法 表述 论述 陈述 提法 观点")
_COPULAS = _one_of(
    "称为 称作 叫做 应该 应当 应为 应是 可以 主要是 的是 指的是 是指 为指 是 为 的 者 了 应 呢 吗",
    "最 均 都 有可能 可能 首先考虑 考虑",
)
_PERSONS = _one_of("患者 病人 该患 某患 某 该 此")

FILLER = _one_of(_QUESTION_WORDS, _STATEMENTS, NEGATIVE_ASK, POSITIVE_ASK, _COPULAS, _PERSONS)
"""Everything that is taken out of a key to get its core."""

_SAME_WORDS = (
    "发生 出现", "常见 多见", "称为 叫作 称作 叫做", "引起 导致 造成 引发 所致", "使用 应用 采用", "特点 特征",
    "机制 机理", "查体 体格检查", "根据 依据 依照 按照", "方法 方式 办法", "医生 医师 大夫", "意识 神志 神智", "突然 突发 骤然",
    "逐渐 渐渐 逐步", "目前 现在 当前 现今", "开始 起始", "立即 立刻 即刻 马上", "快速 迅速",
)  # fmt: skip
SYNONYMS = {other: words[0] for line in _SAME_WORDS for words in [line.split()] for other in words[1:]}
"""Words of stems that say the same everywhere, and the one that stands for them in cores."""

LIGHT = frozenset(
    _one_of(
        "直接 既往 目前 进一步 明显 主要 最主要 常 常常 往往 通常 一般 立即 突然 逐渐 诊断 治疗 检查 处理 药物 症状 疾病",
        "过程中 之后 方面 情况 数量 患有",
    ).split("|")
)
"""Words that make no other question where one copy has them, the other has not, and options and answers are the same:
最有诊断意义的检查 / 最有意义的检查, 疾病过程中 / 疾病中. No word that names something is one of them."""

ASKED = _one_of(
    "诊断 检查 确诊 鉴别 治疗 药物 用药 手术 处理 措施 护理 预防 预后 并发症 病因 原因 诱因 病机 病理 机制 机理",
    "治法 治则 方剂 选方 首选 证型 辨证 部位 表现 症状 体征 禁忌 剂量 分型 分期 分度 类型 腧穴 穴位 经脉 归经",
    "功效 主治 来源 产地 指标 时间 疗程",
).split("|")
"""Words of asking: they may change places within a stem."""

FUNCTION = frozenset(
    "的地得之其他它与和及并且而则即就也亦又于以所被把将对从由因这那此个种项点请问试可能会较很为是者有呈示显提进予给一"
)
"""Characters that make no other question where one copy has them and the other has not, or another of them:
可引起 / 引起, 给予 / 予, 呈喷射性 / 喷射性. 或, 常, 无 and all that names a thing are none of them."""

SUFFIXES = tuple(map(frozenset, ("性型状样形", "症证征", "脏", "日天", "作做")))
"""Characters that may be exchanged for one another or left out at the end of a term: 肥厚性 / 肥厚型, 肝 / 肝脏."""

OPPOSITES = _one_of(
    "左右 高低 上下 内外 前后 增减 升降 增降 阴阳 大小 多少 长短 快慢 急慢 早晚 早迟 轻重 深浅 远近 强弱 寒热",
    "虚实 表里 浮沉 松紧 酸碱 男女 父母 收舒 缩张 开闭 进出 吸呼 入出 先后 首末 粗细 厚薄 软硬 新旧 冷热 干湿",
    "良恶 显隐 正负 正反 亢减 促抑 激抑 钠钾 钾钙 钙镁 铁铜 汞铅 肝肾 心肾 肺肾 脾肾 心肺 肝脾 心肝 肺脾 胃肠",
    "胆肾 动静 气血 主次 常罕 首二 甲乙 乙丙 丙丁 丁戊 甲丙 春夏 秋冬 风寒 风热 痰湿 老幼 婴幼 胎儿 必可 宜忌",
    "加减 起止 好差 优劣 生死 疏密 利弊",
).split("|")
"""Characters that exchange one question for its twin: opposites, and members of the small sets exams ask about."""
