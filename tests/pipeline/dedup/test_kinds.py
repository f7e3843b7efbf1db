"""Which questions are one, which are twins, which contradict each other."""

import pytest

from build_dataset.pipeline.dedup.keys import UNITS

CASE = "患者，男，45岁。因右足第一跖趾关节红肿热痛3天就诊，血尿酸620μmol/L，既往有高血压病史10年。首选的治疗药物是"
GOUT = "治疗痛风急性发作首选的药物是"


def merges(result) -> dict[str, tuple[str, str]]:
    rows = result.tables["merges"].iter_rows(named=True)
    return {row["question_id"]: (row["survivor_id"], row["kind"]) for row in rows}


def kinds(result) -> dict[str, str]:
    return dict(result.tables["clusters"].select("question_id", "kind").iter_rows())


@pytest.mark.parametrize(
    "head", ["12．", "3、 ", "第8题 ", "【单选题】", "（A1型题）", "5. 〔2分〕", "A2型题 ", "[A3]", "（2017年真题）"]
)
def test_what_stands_before_a_stem_does_not_make_another_question(make, dedup, head: str) -> None:
    assert merges(dedup([make("a", CASE), make("b", head + CASE)])) == {"b": ("a", "exact")}


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("11、21、16釉质发育不全，致病因素发生于", "11、13、16釉质发育不全，致病因素发生于"),
        ("按0，1，6月接种的疫苗是", "按0，16月接种的疫苗是"),
        ("第2、3、4鳃弓形成的突起最后形成", "第2、11、4鳃弓形成的突起最后形成"),
        ("3、5岁儿童的体检间隔是", "2、5岁儿童的体检间隔是"),
        ("第1、12对脑神经损伤的表现是", "第11、2对脑神经损伤的表现是"),
        ("心电图示Ⅱ、Ⅲ、aVF导联ST段抬高，诊断是", "心电图示Ⅲ、Ⅲ、aVF导联ST段抬高，诊断是"),
        ("心电图Ⅰ、Ⅳ、aVL导联ST段抬高，诊断是", "心电图Ⅱ、Ⅴ、aVL导联ST段抬高，诊断是"),
        ("用药前应做HLA-B*5801基因筛查的抗痛风药物是", "用药前应做HLA-D*5801基因筛查的抗痛风药物是"),
    ],
)
def test_numbers_and_letters_of_a_question_are_its_own(make, dedup, first: str, second: str) -> None:
    assert dedup([make("a", first), make("b", second)]).counts.kept == 2


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("下列关于痛风的叙述，错误的是", "有关痛风，以下哪项说法不正确"),
        ("治疗痛风急性发作首选的药物是", "治疗痛风的急性发作，应首选的药物为"),
        (CASE, f"男性病人，45岁，{CASE[10:-8]}该患者治疗首选的药物为"),
        ("除哪项外，均为痛风的诱因", "痛风的诱因除哪项外"),
        (CASE, CASE.replace("3天", "三天").replace("首选", "一般首选")),
        (f"{CASE}。近一年心率80/分，两肺清", f"{CASE}。近1年心率为80次/分，双肺清"),
        ("痛风引起的关节损害特点是", "痛风所致关节损害的特征是"),
    ],
)
def test_wordings_of_one_question_are_merged(make, dedup, first: str, second: str) -> None:
    assert merges(dedup([make("a", first), make("b", second)])) == {"b": ("a", "same_question")}


def test_traditional_and_simplified_characters_say_the_same(make, dedup) -> None:
    first = make("a", "下列關於痛風的敘述，錯誤的是", "與飲酒無關 血尿酸升高 關節腫痛")
    second = make("b", "下列关于痛风的叙述，错误的是", "与饮酒无关 血尿酸升高 关节肿痛")
    result = dedup([first, second])
    assert merges(result) == {"b": ("a", "exact")}
    assert result.tables["questions"]["stem"].to_list() == [first.stem]  # compared in one script, kept in its own
    other_key = second.model_copy(update={"answer": ["B"]})
    assert dedup([first, other_key]).review[0].reason == "conflicting_answers"


@pytest.mark.parametrize(
    ("first", "second", "kind"),
    [
        ("下列屬於陰虛證候表現的是", "下列属于阳虚证候表现的是", "term"),
        ("關於痛風的治療，正確的是", "关于痛风的治疗，错误的是", "negation"),
        ("患者，男，45歲，關節紅腫三天，首選的藥物是", "患者，男，65岁，关节红肿三天，首选的药物是", "age"),
    ],
)
def test_twins_are_twins_in_two_scripts_too(make, dedup, first: str, second: str, kind: str) -> None:
    result = dedup([make("a", first), make("b", second)])
    assert not merges(result)
    assert kinds(result) == {"a": kind, "b": kind}


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("下列哪项正确", "下列哪裂项正确"),
        ("有关漱桡惊出血热的描述，正确的是", "下有关漱桡惊出废热的描述，正确的是"),
        ("有关旱讲静表现的叙述，错误的是", "有关旱讲静表现的叙盖，错误的是"),
    ],
)
def test_what_is_almost_one_text_shares_a_cluster_whatever_else_is_said_of_it(
    make, dedup, first: str, second: str
) -> None:
    options = "用于急性发作的治疗 使血尿酸降到正常 肾功能不全时禁用 促进尿酸的排泄 抑制尿酸的生成"
    result = dedup([make("a", first, options), make("b", second, options)])
    assert merges(result) or set(kinds(result)) == {"a", "b"}
    assert not kinds(dedup([make("a", first, options), make("b", second)]))  # with other options it is chance


def test_answers_are_compared_by_text_when_options_changed_places(make, dedup) -> None:
    copy = make("b", GOUT, "泼尼松 苯溴马隆 秋水仙碱 丙磺舒 别嘌醇", "C")
    result = dedup([make("a", GOUT), copy])
    assert merges(result) == {"b": ("a", "reordered_options")}
    assert dedup([make("a", GOUT), copy.model_copy(update={"answer": ["A"]})]).counts.waiting == 2


@pytest.mark.parametrize(
    ("first", "second", "kind"),
    [
        ("关于痛风的治疗，正确的是", "关于痛风的治疗，错误的是", "negation"),
        ("属于促进尿酸排泄的药物是", "不属于促进尿酸排泄的药物是", "negation"),
        ("痛风急性发作时宜选用的药物是", "痛风急性发作时不宜选用的药物是", "negation"),
        (CASE, CASE.replace("首选的治疗药物", "不应选用的治疗药物"), "negation"),
        (CASE, CASE.replace("620", "320"), "number"),
        (CASE, CASE.replace("3天", "两周"), "number"),
        (CASE, CASE.replace("μmol/L", "mmol/L"), "unit"),
        (CASE, CASE.replace("3天", "3周"), "unit"),
        (CASE, CASE.replace("男", "女"), "sex"),
        (CASE, CASE.replace("45岁", "75岁"), "age"),
        (CASE, CASE.replace("右足", "左足"), "term"),
        ("缺乏维生素B1可致", "缺乏维生素B2可致", "number"),
        ("缺乏维生素A可导致的疾病是", "缺乏维生素C可导致的疾病是", "term"),
        ("Ⅰ型呼吸衰竭的血气特点是", "Ⅱ型呼吸衰竭的血气特点是", "term"),
        ("低钾血症的心电图特点是", "高钾血症的心电图特点是", "term"),
        (CASE, CASE.replace("首选的治疗药物是", "最有意义的检查是"), "term"),
    ],
)
def test_twins_are_kept_in_one_cluster(make, dedup, first: str, second: str, kind: str) -> None:
    result = dedup([make("a", first), make("b", second)])
    assert merges(result) == {}
    assert kinds(result) == {"a": kind, "b": kind}
    assert result.tables["clusters"]["cluster_id"].to_list() == ["a", "a"]


def test_a_stem_with_other_options_is_a_variant(make, dedup) -> None:
    result = dedup([make("a", GOUT), make("b", GOUT, "吲哚美辛 青霉素 阿司匹林 甲氨蝶呤 呋塞米")])
    assert kinds(result) == {"a": "variant", "b": "variant"}
    assert result.counts.kept == 2


def test_a_stem_that_says_nothing_relates_no_questions(make, dedup) -> None:
    result = dedup([make("a", "错误的是"), make("b", "错误的是", "肺炎 肺癌 肺结核 气胸 哮喘")])
    assert kinds(result) == {}


def test_another_number_in_an_option_is_another_question(make, dedup) -> None:
    first = make("a", "秋水仙碱的首次剂量是", "0.5mg 1mg 2mg 5mg 10mg")
    second = make("b", "秋水仙碱的首次剂量是", "0.5mg 1mg 2mg 5mg 20mg")
    assert kinds(dedup([first, second])) == {"a": "variant", "b": "variant"}


def test_stems_that_share_options_by_construction_are_different_questions(make, dedup) -> None:
    acupoints = "大杼 绝骨 太渊 膈俞 膻中"
    stems = ["骨会是", "脉会是", "血会是", "气会是", "髓会是"]
    questions = [make(str(n), stem, acupoints, "ABCDE"[n], question_type="B1") for n, stem in enumerate(stems)]
    result = dedup(questions)
    assert (result.counts.kept, result.counts.merged, result.counts.waiting) == (5, 0, 0)


def test_members_of_one_group_are_never_merged(make, dedup) -> None:
    shared = {"shared_stem": CASE[:-9], "group_id": "1-3", "document": "paper", "question_type": "A3/A4"}
    result = dedup([make("a", "该患者的首选药物是", **shared), make("b", "该患者宜首选的药物为", **shared)])
    assert result.counts.kept == 2


def test_a_case_is_compared_with_its_shared_stem(make, dedup) -> None:
    case, ask = CASE[:-9], CASE[-9:]
    apart = make("a", ask, shared_stem=case, group_id="1", question_type="A3/A4")
    assert merges(dedup([apart, make("b", case + ask)])) == {"b": ("a", "exact")}
    elsewhere = make("c", ask, shared_stem="女，30岁，妊娠28周，血压160/110mmHg。", group_id="2", question_type="A3/A4")
    assert dedup([apart, elsewhere]).counts.kept == 2


def test_different_answers_to_one_question_wait_for_a_person(make, dedup) -> None:
    copies = [make(name, CASE, answer=answer) for name, answer in (("a", "A"), ("b", "B"), ("c", "A"))]
    result = dedup(copies)
    assert result.tables["questions"].is_empty()
    assert result.counts.waiting == 3
    (item,) = result.review
    assert (item.reason, sorted(item.question_ids)) == ("conflicting_answers", ["a", "b", "c"])
    assert "b says B (paper-b)" in item.detail


def test_two_answers_to_one_text_are_a_conflict_whatever_copy_is_the_best(make, dedup) -> None:
    """The best copy is worded so that with another answer it could be another question."""
    best = make("a", "真菌繁殖器官为", "芽胞 菌丝 孢子", "C", explanation="孢子是真菌的繁殖器官。")
    copies = [make(name, "真菌的繁殖器官是", "芽胞 菌丝 孢子", answer) for name, answer in (("b", "C"), ("c", "A"))]
    result = dedup([best, *copies])
    (item,) = result.review
    assert sorted(item.question_ids) == ["a", "b", "c"]
    assert result.counts.waiting == 3


def test_a_missing_answer_contradicts_nothing(make, dedup) -> None:
    result = dedup([make("a", CASE, answer=None), make("b", CASE)])
    assert merges(result) == {"a": ("b", "exact")}


def test_an_answer_that_an_appeal_accepts_contradicts_nothing(make, dedup) -> None:
    appealed = make("a", CASE, answer="A", accepted_answers=[["A"], ["B"]])
    assert merges(dedup([appealed, make("b", CASE, answer="B")])) == {"b": ("a", "exact")}


def test_several_answers_are_not_one_of_them(make, dedup) -> None:
    assert dedup([make("a", CASE, answer="AB"), make("b", CASE, answer="A")]).counts.waiting == 2


def test_a_small_collection_is_no_evidence_of_misreadings(make, dedup) -> None:
    first, second = (make("a", "属于肝经的原穴是", "太冲 太溪 合谷"), make("b", "属于胆经的原穴是", "太冲 太溪 合谷"))
    assert dedup([first, second]).counts.kept == 2


def test_another_word_makes_another_question_whatever_the_answer(make, dedup) -> None:
    first, second = make("a", CASE), make("b", CASE.replace("红肿热痛", "麻木刺痛"))
    for twin in (second, second.model_copy(update={"answer": ["B"]})):
        result = dedup([first, twin])
        assert (result.counts.kept, kinds(result)) == (2, {"a": "term", "b": "term"})


@pytest.mark.slow
@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("结构中含有醇羟基的药物泼尼松龙", "结构中含有醇羟基的药物泼尼松"),
        ("雷米普利的作用特点是", "依那普利的作用特点是"),
        ("奥美拉唑的化学特征是", "艾司奥美拉唑的化学特征是"),
        ("白术的功效是", "川芎的功效是"),
        ("淡黄色处方用于", "淡红色处方用于"),
        ("轻度湿疹宜选用", "中度湿疹宜选用"),
        ("城市中学的服务半径是", "城市小学的服务半径是"),
        ("初治病人的方案是", "复治病人的方案是"),
        ("油包水型基质是", "水包油型基质是"),
        ("支原体肺炎宜选用", "衣原体肺炎宜选用"),
    ],
)
@pytest.mark.parametrize("answer", ["A", "B"])
def test_terms_under_one_list_of_options_are_different_questions(
    make, dedup, crowd, first: str, second: str, answer: str
) -> None:
    """One explanation for the whole list, as banks have it, does not make them one."""
    told = {"explanation": f"本组题考查：{first}甲，{second}乙，其余各项均不正确。"}
    result = dedup([make("a", first, **told), make("b", second, answer=answer, **told), *crowd])
    assert (result.counts.merged, result.counts.waiting) == (0, 0)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (GOUT, GOUT),
        (GOUT, " 治疗痛风急性发作，首选的药物是（ ）"),
        (GOUT, "治 疗 痛 风 急 性 发 作 首 选 的 药 物 是____"),
        ("血清K⁺6.0mmol/L，Cl⁻105mmol/L，诊断是", "血清K+6mmol/L，Cl-105mmol/L，诊断是"),
        ("体温38.5℃，中性粒细胞70%，诊断是", "体温38.5C，中性粒细胞0.70，诊断是"),
        ("血小板20×10⁹/L，尿酸620μmol/L，诊断是", "血小板20X109/L，尿酸620umol/L，诊断是"),
        ("女，35岁。发热2小时，诊断是", "（135～136共用题干）女，35岁。发热2h。1．诊断是"),
        ("另一种常见的诱因是", "另—种常见的诱因是（模拟卷三第47题）"),
        ("口腔粘膜的髙发病变是", "口腔黏膜的高发病变是"),
        ("尿蛋白>3.5g/d，硬结≥20mm，诊断是", "尿蛋白＞3.5g/天，硬结≧20mm，诊断是"),
        ("滴速60滴/分，含1,000IU，一次服完，用途是", "滴速60滴/min，含1000IU，1次服完，用途是"),
        ("按0、1、6月接种，V1～V4导联改变，提示", "按0，1，6月接种，V1-V4导联改变，提示"),
        ("空腹血糖为6.1毫摩尔/升，血压为130/80毫米汞柱，诊断是", "空腹血糖为6.1mmol/L，血压为130/80mmHg，诊断是"),
        ("血清T4升高而TSH降低的疾病是", "血清T₄升高而TSH降低的疾病是"),
    ],
)
def test_cosmetic_copies_are_one(make, dedup, first: str, second: str) -> None:
    result = dedup([make("a", first), make("b", second)])
    assert merges(result) == {"b": ("a", "exact")}
    assert result.tables["merges"]["score"].to_list() == [1.0]


def test_a_word_with_a_negating_character_negates_nothing(make, dedup) -> None:
    first, second = "老年患者餐后饱胀伴消化不良的常见原因是", "老年患者餐后饱胀伴消化障碍的常见原因是"
    assert kinds(dedup([make("a", first), make("b", second)])) == {"a": "term", "b": "term"}


def test_a_look_alike_in_a_case_with_another_answer_is_a_contradiction(make, dedup, crowd) -> None:
    written = [make(f"y{n}", stem, "甲 乙 丙") for n, stem in enumerate(("已经痊愈者", "是否已经接种"))]
    case = CASE.replace("因右足", "已经治疗，因右足")
    misspelt = make("b", case.replace("已经", "己经"), answer="B")
    assert dedup([make("a", case), misspelt, *written, *crowd]).counts.waiting == 2


@pytest.mark.slow
@pytest.mark.parametrize("word", UNITS)
def test_units_in_words_are_those_in_symbols_and_no_others(make, dedup, word: str) -> None:
    asked = "每次给予{} {}，这种用法最适合的情形是"
    copies = [make("a", asked.format(25, word)), make("b", asked.format(25, UNITS[word]))]
    assert dedup(copies).counts.merged == 1
    other = next(unit for unit in ("mg", "h") if unit != UNITS[word])
    assert dedup([copies[0], make("b", asked.format(25, other))]).counts.merged == 0
