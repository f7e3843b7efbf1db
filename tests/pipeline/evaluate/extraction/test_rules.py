"""Each rule reads the words that it is for, and none beyond its limits."""

import json
from pathlib import Path

import pytest

from build_dataset.pipeline.claims import fold
from build_dataset.pipeline.claims.explanations import asks_for_wrong
from build_dataset.pipeline.evaluate.extraction.rules import RULES
from build_dataset.pipeline.evaluate.extraction.task import ReadingTask

TESTS = Path(__file__).parents[1]
BY_HAND = Path(__file__).parents[4] / "benchmarks" / "extraction" / "by_hand_options.json"
OPTIONS: dict[str, dict[str, str]] = {
    **json.loads(BY_HAND.read_text(encoding="utf-8")),
    **json.loads((TESTS / "extraction_options.json").read_text(encoding="utf-8")),
    "three": {"A": "卡托普利", "B": "氯沙坦", "C": "地高辛"},
}


def read(
    rule: str, text: str, options: str, multiple: bool | None, *, first: bool | None = None, stem: str | None = None
) -> tuple[str, str] | None:
    """Return the letters that a rule finds, and the words where it finds them."""
    wrong = asks_for_wrong(stem) if stem else None
    said = ReadingTask(fold(text), OPTIONS[options], multiple, wrong, fold(stem or ""), first)
    found = RULES[rule](said)
    return None if found is None else ("".join(sorted(found.labels)), said.text[found.start : found.end])


@pytest.mark.parametrize(
    ("rule", "text", "options", "multiple", "more", "found"),
    [
        ("opening", "选治疗药物是青霉素。", "drugs", False, {}, None),
        ("opening", "B：正确。", "four", None, {"first": True}, ("B", "B")),
        ("opening", "正确答案：B C", "law", None, {}, ("BC", "正确答案:B C")),
        ("opening", "AB。A：正确。B：正确。", "four", None, {}, None),
        ("opening", "更正：答案应为D。", "four", False, {}, None),
        ("opening", "B：血压升高。C：瞳孔缩小。D：支气管扩张。", "four", True, {}, None),
        ("opening", "A错误，", "four", False, {"first": True}, None),
        ("opening", "D支气管扩张", "four", False, {}, ("D", "D支气管扩张")),
        ("opening", "B", "drugs", False, {}, ("B", "B")),
        ("opening", "A C D", "four", False, {"first": True}, None),
        (
            "opening",
            "[答案] E\n[解析] 该病为自限性疾病（E错，可有感染史（C对），预后好（D对）。",
            "course",
            False,
            {},
            ("E", "答案] E"),
        ),
        ("opening", "正确的说法：A、C、E。", "asked2", True, {"stem": "关于糖尿病的说法，不正确的有"}, None),
        ("opening", "A、B、CA、B", "tests", False, {"first": True}, None),
        ("opening", "AB。A：正确。B：正确。", "four", None, {"first": True}, ("A", "A")),
        ("opening", "\n\nA. C", "cyp", False, {}, ("A", "A")),
        ("opening", "D\n\nA\n", "n1", False, {}, ("D", "D")),
        ("stated", "首选治疗药物是青霉素。", "drugs", False, {}, None),
        ("stated", "B是正确答案，", "h2", True, {}, ("B", "B")),
        (
            "stated",
            "不得有（A错，为本题正确答案）与（D错，为本题正确答案）；",
            "four",
            True,
            {},
            ("AD", "A错,为本题正确答案)与(D错,为本题正确答案"),
        ),
        ("stated", "青霉素、庆大霉素属于抗菌药物。", "drugs", True, {}, None),
        ("stated", "答案选C", "drugs", None, {}, ("C", "答案选C")),
        ("stated", "选A、选B、选C、选E", "round5_n2", True, {}, ("ABCE", "选A、选B、选C、选E")),
        ("stated", "答案选B、C。", "h2", True, {}, ("BC", "答案选B、C")),
        ("everything", "应选全部选项。", "four", True, {}, ("ABCD", "应选全部选")),
        ("everything", "青霉素、庆大霉素属于抗菌药物。", "drugs", True, {}, None),
        ("last_line", "首选治疗药物是青霉素。", "drugs", False, {}, None),
        ("last_line", "a: 出血。", "ulcer", False, {}, None),
        ("ranked", "首选治疗药物是青霉素。", "drugs", False, {}, None),
        ("ranked", "B（90%），D（5%）", "x2", False, {}, ("B", "B(90%),D(5%")),
        ("ranked", "我有80%的把握选B，", "n1", False, {}, None),
        ("ranked", "A 60%，B 40%\n", "truth", False, {}, ("A", "A 60%,B 40%")),
        ("ranked", "补液 > 胰岛素 > 补钾 > 补碱，", "y2", False, {}, None),
        ("ranked", "A>D>E>B>C", "g1", False, {}, ("A", "A")),
        ("ranked", "C > D > A，", "n1", False, {}, ("C", "C")),
        ("ranked", "Most likely to least likely: (B),", "english", False, {}, ("B", "B")),
        ("ranked", "Most likely to least likely: (B), (D).", "english", False, {}, ("B", "B), (D")),
        ("ranked", " DB>A>D等等，", "english", False, {}, None),
        ("ranked", "Most likely to least likely is:B,", "english", False, {}, None),
        ("head", "选治疗药物是青霉素。", "drugs", False, {}, None),
        ("head", "A：正确。B：正确。", "four", None, {}, ("A", "A")),
        ("head", "C 选项正确", "drugs", None, {}, ("C", "C")),
        ("head", "a 是。", "ulcer", False, {}, None),
        ("head", "正确的是A、B，", "drugs", False, {}, ("AB", "A、B")),
        ("head", "ABCD。B：血压升高。C：瞳孔缩小。D：支气管扩张。", "four", True, {}, None),
        ("head", "A、B、D正确，", "four", True, {}, ("ABD", "A、B、D")),
        ("head", "只有C正确。", "h2", True, {}, None),
        ("head", "A、B均能降压，", "three", False, {}, None),
        ("head", "正确的说法：A、C、E。", "asked2", True, {"stem": "关于糖尿病的说法，不正确的有"}, None),
        ("head", "A. 出血：患者无黑便，不符合。B.", "ulcer", False, {"first": False}, None),
        ("head", "a。这是常见的。", "ulcer", False, {}, ("A", "a")),
        ("concluded", "B选项是最合适的。A错误。", "drugs", False, {}, ("B", "B")),
        ("concluded", "A：错误。\nB：错误。\nC：因此C正确。", "drugs", False, {}, None),
        ("concluded", "正确的是A、B，错误的是C。", "drugs", False, {}, ("C", "错误的是C")),
        ("concluded", "錯誤選項：B、C、D；正確選項：A", "g5", False, {}, ("A", "正确选项:A")),
        ("quoted", "氟康唑。因为是真菌感染。", "drugs", False, {}, ("C", "氟康唑")),
        ("quoted", "因此A选项错误；故B选项正确；", "four", False, {}, ("B", "故B")),
        ("quoted", "青霉素属于非抗血小板。", "drugs", False, {}, None),
        ("quoted", "最严重的是穿孔。", "ulcer", False, {}, ("B", "的是穿孔")),
        ("quoted", "青霉素、庆大霉素属于抗菌药物。", "drugs", True, {}, None),
        ("quoted", "答案是ABD", "four", True, {}, ("ABD", "ABD")),
        ("quoted", "A：错误。\nB：错误。\nC：因此C正确。", "drugs", False, {}, None),
        ("quoted", "只有C正确。", "h2", True, {}, ("C", "只有C")),
        ("quoted", "最常见的是出血，最严重的是穿孔。", "y4", False, {}, None),
        ("quoted", "大发作首选苯妥英钠，持续状态首选地西泮。", "w2", False, {}, None),
        (
            "quoted",
            "正确的说法：A、C、E。",
            "asked2",
            True,
            {"stem": "关于糖尿病的说法，不正确的有"},
            ("ACE", "A、C、E"),
        ),
        ("quoted", "答案是A。而是C。", "four", False, {}, ("A", "A")),
        ("quoted", "答案是A和C", "four", True, {}, ("AC", "A和C")),
        ("quoted", "正确的选项是C", "drugs", None, {}, ("C", "正确的选项是C")),
        ("quoted", "选项：C\n理由：瞳孔缩小", "four", False, {}, None),
        ("quoted", "Is it B? The gums are normal, so no.", "k5", False, {}, None),
        ("quoted", "不可掰开或嚼碎服用的是控释片和肠溶片，", "forms", False, {}, None),
        ("quoted", "A：错误。\nB：错误。\n\nC：因此，氟康唑。", "drugs", False, {}, None),
        ("verdicts", "A正确，B正确，C错误。", "three", False, {}, ("C", "A正确,B正确,C错误。")),
        ("verdicts", "排除A，排除B。", "three", False, {}, ("C", "排除A,排除B")),
        ("verdicts", "C 选项正确", "drugs", None, {}, None),
        ("verdicts", "没有一个选项A到D是对的，因此答案为E。", "n4", False, {}, None),
        ("verdicts", "B：错误。C：因此C正确。", "drugs", False, {}, ("C", "B:错误。C:因此C正确")),
        ("verdicts", "B对，C对，排除D。", "four", False, {}, None),
        ("verdicts", "排除A。", "drugs", False, {}, None),
        ("verdicts", "选A是不对的，", "drugs", False, {}, ("A", "A是不对的")),
        ("odd_one_out", "A、B均能降压，而C不能。", "three", False, {}, ("C", "C")),
        ("odd_one_out", "A、B、D均正确，C错误。", "four", True, {}, None),
        ("odd_one_out", "首选治疗药物是青霉素。", "drugs", False, {}, None),
        ("odd_one_out", "A、C、D、E均可致病，B则", "drugs", False, {}, None),
        ("odd_one_out", "A、B均能降压。", "three", False, {}, None),
        ("odd_one_out", "A、B均能降压。", "three", False, {"stem": "下列叙述错误的是"}, ("C", "A、B均")),
        ("predicated", "首选治疗药物是青霉素。", "drugs", False, {}, None),
        (
            "predicated",
            "Atropine is a vasodilator.",
            "english",
            False,
            {"stem": "Which of these is a vasodilator?"},
            ("B", "Atropine"),
        ),
        (
            "predicated",
            "长期应用雌激素也是高危因素；多产是保护因素。",
            "asked10",
            True,
            {"stem": "子宫内膜癌的高危因素包括"},
            None,
        ),
        ("predicated", "首选治疗药物是青霉素。", "drugs", False, {"stem": "链球菌感染的首选治疗药物是"}, None),
        (
            "predicated",
            "青霉素、庆大霉素属于抗菌药物。",
            "drugs",
            True,
            {"stem": "哪些是抗菌药物"},
            ("AB", "青霉素、庆大霉素"),
        ),
        (
            "predicated",
            "Furosemide causes hypokalemia, so it is not a cause of hyperkalemia.",
            "asked3",
            False,
            {"stem": "Which of the following is NOT a cause of hyperkalemia?"},
            ("B", "Furosemide"),
        ),
        (
            "predicated",
            "Atropine is an antibiotic.",
            "english",
            False,
            {"stem": "Which of these is an antibiotic?"},
            None,
        ),
        (
            "predicated",
            "Atropine is a vasodilators.",
            "english",
            False,
            {"stem": "Which of these is a vasodilator?"},
            ("B", "Atropine"),
        ),
        (
            "predicated",
            "青霉素属于抗血小板类药物。",
            "drugs",
            False,
            {"stem": "哪些是抗血小板的常用药物"},
            ("A", "青霉素"),
        ),
        ("predicated", "青霉素属于抗血小板药物。", "drugs", False, {"stem": "抗血小板药物有下列哪一种情况呢"}, None),
        ("suggested", "首选治疗药物是青霉素。", "drugs", False, {}, None),
        ("suggested", "考虑急性胆囊炎可能性大，", "h1", False, {}, None),
        ("suggested", "Bradycardia is classic for Propranolol.", "english", None, {}, ("A", "classic for Propranolol")),
        ("suggested", "The findings suggest A and B.", "english", None, {}, None),
    ],
)
def test_a_rule_reads_what_it_is_for_and_nothing_else(
    rule: str,
    text: str,
    options: str,
    multiple: bool | None,
    more: dict[str, str | bool],
    found: tuple[str, str] | None,
) -> None:
    first, stem = more.get("first"), more.get("stem")
    assert isinstance(first, bool | None)
    assert isinstance(stem, str | None)
    assert read(rule, text, options, multiple, first=first, stem=stem) == found
