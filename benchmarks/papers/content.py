"""Questions that nobody has asked before: drawn from word lists, with the things in them that mislead a parser."""

from __future__ import annotations

from random import Random

from benchmarks.papers.model import ASIDE, Group, Item, Kind, Section

_SUBJECTS = (
    "甲状腺结节", "维生素A缺乏", "乙型肝炎", "2型糖尿病", "急性阑尾炎", "IgA肾病", "B细胞淋巴瘤", "房室传导阻滞",
    "HLA-B27阳性者", "肝硬化", "铅中毒", "CD4+T细胞减少", "Graves病", "支气管哮喘", "1型神经纤维瘤病",
    "A族链球菌感染", "妊娠期高血压", "川崎病", "血友病A", "骨关节炎", "PaO₂下降", "钩端螺旋体病",
)  # fmt: skip
_ASKS = (
    "下列关于{}的叙述，正确的是", "{}首选的检查是", "{}最常见的原因是", "不属于{}表现的是", "治疗{}时，首先应当",
    "{}的诊断依据为", "与{}的发生关系最密切的因素是", "在{}的随访中，3个月后应复查", "{}患者禁用的药物是（　　）",
    "能够提示{}的实验室结果是____", "下列哪项不符合{}？", "就{}而言，主要作用于β₁受体的是",
)  # fmt: skip
_ANSWERS = (
    "血小板减少", "口服阿司匹林", "0.9%氯化钠注射液", "胸部X线检查", "acute nephritis", "80×10⁹/L", "立即手术",
    "维生素C", "0.5 mg/d", "左心衰竭", "B超", "1～2周后复查", "静脉滴注青霉素G", "以上都不是", "IL-6", "Na⁺-K⁺-ATP酶",
    "beta-blocker", "(1→3)-β-D葡聚糖", "6～12个月", "定期随访", "肾小球滤过率<60 mL/min", "ST段抬高≥0.1 mV",
    "磷酸二酯酶抑制剂", "糖皮质激素", "C反应蛋白升高", "A波消失", "IgG", "E-选择素", "抗O试验阳性", "24小时尿蛋白定量",
)  # fmt: skip
_CASES = (
    "男，{}岁。上腹痛3天，伴黄疸1天。查体：T 38.5℃，P 102次/分，BP 130/80 mmHg。实验室检查：WBC 15.2×10⁹/L。",
    "女，{}岁。反复咳嗽、咳痰10年，加重伴气促2周。既往吸烟30年，20支/日。",
    "患者，男，{}岁。2小时前突发胸骨后压榨样疼痛，含服硝酸甘油不能缓解，心电图示V1～V4导联ST段抬高。",
    "患儿，女，{}个月。发热3天，体温39℃，热退后出现皮疹。1. 血常规正常；2. 尿常规正常。",
)  # fmt: skip
_WHYS = (
    "本题考查基本概念。其余各项均与之不符，故不选。",
    "A项见于早期，B项见于晚期；根据第3版诊疗指南，此时首先应评估全身情况。",
    "该药半衰期约2.5小时，每日剂量不超过1 g。",
    "（1）起病急；（2）进展快；（3）预后差。",
)
_TRADITIONAL = str.maketrans(
    "关叙状线检查诊断据为发系药项属现时应当结实验与肾细胞维缺炎传导减滤过压约进体",
    "關敘狀線檢查診斷據為發系藥項屬現時應當結實驗與腎細胞維缺炎傳導減濾過壓約進體",
)


def sections(seed: int, kinds: tuple[Kind, ...], size: int, options: int, *, explained: bool) -> tuple[Section, ...]:
    """A section a kind, of about ``size`` items, each with ``options`` options."""
    random = Random(seed)
    return tuple(_section(random, kind, size, options, explained=explained) for kind in kinds)


def traditional(text: str) -> str:
    """The text in traditional characters, as far as this generator's words need it."""
    return text.translate(_TRADITIONAL)


def _section(random: Random, kind: Kind, size: int, options: int, *, explained: bool) -> Section:
    if kind in (Kind.A3, Kind.B1, Kind.C):
        sizes = [min(3, size - start) for start in range(0, size, 3)]
        if sizes[-1] == 1:  # a group of one is none
            sizes[-1] = 2
        return Section(kind, tuple(_group(random, kind, count, options, explained=explained) for count in sizes))
    items = [_item(random, kind, options, explained=explained) for _ in range(size)]
    return Section(kind, tuple(Group((item,)) for item in items))


def _group(random: Random, kind: Kind, count: int, options: int, *, explained: bool) -> Group:
    if kind is Kind.A3:
        case = random.choice(_CASES[:3]).format(random.randint(20, 80))
        return Group(tuple(_item(random, kind, options, explained=explained) for _ in range(count)), case=case)
    shared = tuple(random.sample(_ANSWERS, options))
    if kind is Kind.C:
        shared = (*shared[:2], "两者均有", "两者均无")
    items = [_item(random, kind, options, explained=explained) for _ in range(count)]
    return Group(
        tuple(
            Item(kind, item.stem, shared, random.choice("ABCDEFGHIJK"[: len(shared)]), item.explanation)
            for item in items
        ),
        options=shared,
    )


def _item(random: Random, kind: Kind, options: int, *, explained: bool) -> Item:
    stem = random.choice(_ASKS).format(random.choice(_SUBJECTS))
    why = random.choice((None, *_WHYS)) if explained else None
    if kind in ASIDE:
        return _aside(random, kind, why)
    texts = tuple(random.sample(_ANSWERS, options))
    letters = "ABCDEFGHIJK"[:options]
    if kind is Kind.A2:
        stem = random.choice(_CASES[:3]).format(random.randint(20, 80)) + "最可能的诊断是"
    if kind is Kind.K:
        facts = random.sample(_ANSWERS, 4)
        stem += "\n" + "\n".join(f"{mark}{fact}" for mark, fact in zip("①②③④", facts, strict=True))
        texts = ("①②③", "①③", "②④", "④", "①②③④")[: max(options, 3)]
        letters = letters[: len(texts)]
    if kind is Kind.X:
        answer = "".join(sorted(random.sample(letters, random.randint(2, len(letters)))))
    else:
        answer = random.choice(letters)
    return Item(kind, stem, texts, answer, why)


def _aside(random: Random, kind: Kind, why: str | None) -> Item:
    subject = random.choice(_SUBJECTS)
    if kind is Kind.TRUE_FALSE:
        return Item(kind, f"{subject}多见于老年人。（　　）", (), random.choice(("√", "×")), why)
    if kind is Kind.FILL_IN:
        return Item(kind, f"{subject}最常累及的部位是______。", (), "近端", why)
    return Item(kind, f"试述{subject}的处理原则。", (), "去除病因，对症支持治疗", why)
