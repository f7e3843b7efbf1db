"""Thresholds, and the order of candidates."""

from rapidfuzz import fuzz

from build_dataset.pipeline.dedup import candidates
from build_dataset.pipeline.dedup.keys import with_keys
from build_dataset.schemas.questions import Question

CASE = "患者，男，45岁。因右足第一跖趾关节红肿热痛3天就诊，血尿酸620μmol/L，首选的治疗药物是"
OPTIONS = "减少尿酸的生成量 促进尿酸的排泄 抑制粒细胞的浸润 分解已有的尿酸 保护肾脏的功能"
REWORDED = OPTIONS.replace("抑制粒细胞的浸润", "抑制体内粒细胞的浸润")


def kinds(result) -> list[str]:
    return result.tables["merges"]["kind"].to_list()


def test_options_that_are_less_alike_than_the_threshold_are_others(make, dedup) -> None:
    questions = [make("a", CASE, OPTIONS), make("b", CASE, REWORDED), make("c", CASE, OPTIONS)]
    assert kinds(dedup(questions)) == ["same_question", "exact"]
    assert kinds(dedup(questions, option=0.95)) == ["exact"]


def test_the_most_alike_come_first(make) -> None:
    stems = [CASE, CASE.replace("就诊", "来院"), CASE.replace("620", "380")]
    frame = Question.to_frame([make(name, stem) for name, stem in zip("abc", stems, strict=True)])
    pairs = candidates.find_candidates(with_keys(frame), 0)[0].tolist()
    likeness = [fuzz.ratio(stems[first], stems[second]) for first, second in pairs]
    assert (len(pairs), likeness) == (3, sorted(likeness, reverse=True))
