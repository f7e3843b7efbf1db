"""Annotation over the real wire: a real server, a real model, real structured output."""

import re

import pytest

from build_dataset.annotation.llm_annotator import estimate
from build_dataset.annotation.params import AnnotateLlmOptions, AnnotateParams
from build_dataset.pipeline.annotate import run
from build_dataset.schemas.annotations import Annotation
from build_dataset.schemas.questions import Option, Question
from build_dataset.schemas.taxonomy import dimensions
from tests.conftest import MemoryStore
from tests.services.llm_server import LlmServer

STEMS = {
    "治疗甲状腺功能亢进的药物是": ("甲巯咪唑", "左甲状腺素"),
    "大叶性肺炎最常见的病原体是": ("肺炎链球菌", "军团菌"),
    "右上腹绞痛伴黄疸和寒战高热，首先考虑": ("胆管炎", "胃炎"),
    "缺铁性贫血时降低的是": ("血清铁蛋白", "总铁结合力"),
    "关于知情同意，正确的是": ("患者有权拒绝治疗", "医生可代为决定"),
    "下颌第一磨牙通常有几个牙根": ("两个", "四个"),
    "急性心肌梗死最早升高的标志物是": ("肌红蛋白", "乳酸脱氢酶"),
    "支气管哮喘急性发作首选": ("沙丁胺醇", "色甘酸钠"),
    "脾气虚证的舌象是": ("舌淡苔白", "舌红少苔"),
    "麻黄的功效是": ("发汗解表", "清热泻火"),
    "队列研究常用的关联指标是": ("相对危险度", "比值比"),
    "产后出血最常见的原因是": ("宫缩乏力", "胎盘残留"),
    "小儿维生素D缺乏最早见于": ("颅骨软化", "方颅"),
    "青光眼急性发作时眼压": ("升高", "降低"),
    "精神分裂症的特征性症状是": ("思维松弛", "情绪高涨"),
    "缓释片的目的是": ("延长作用时间", "加快起效"),
    "桡骨远端骨折的典型畸形是": ("银叉样", "方肩"),
    "麻疹早期的特征是": ("柯氏斑", "草莓舌"),
    "医疗事故的鉴定机构是": ("医学会", "法院"),
    "急性肾小球肾炎多发生于": ("链球菌感染后", "病毒感染后"),
}


def questions() -> list[Question]:
    return [
        Question(
            question_id=f"bbbbbbbb-1-{n:03}",
            document="d.pdf",
            section=1,
            number=n,
            question_type="A1",
            stem=stem,
            options=[Option(label=letter, text=text) for letter, text in zip("AB", options, strict=True)],
            content_hash=str(n),
        )
        for n, (stem, options) in enumerate(STEMS.items())
    ]


@pytest.mark.timeout(1800)  # three tokens a second where others work on the same cores
def test_a_real_server_labels_within_the_enumerations_and_is_asked_once(llm_server: LlmServer, context):
    options = AnnotateLlmOptions(
        base_url=llm_server.base_url, model=llm_server.model, concurrency=2, max_tokens=200, timeout=300
    )
    params = AnnotateParams(llm=options)
    tables = {"questions": Question.to_frame(questions())}
    first = run(tables, params, context)
    assert first.complete, first.review
    annotations = list(Annotation.from_frame(first.tables["annotations"]))
    assert len(annotations) == 5 * len(STEMS)
    assert all(row.label in dimensions()[row.dimension].zh_names() for row in annotations)
    assert {row.annotator for row in annotations} == {f"llm:{llm_server.model}"}
    assert all(row.confidence is None or 0 < row.confidence <= 1 for row in annotations)
    told = re.search(r"about ([\d,]+) tokens", estimate(questions(), params, MemoryStore()))
    assert 0.5 < int(told[1].replace(",", "")) / first.facts["prompt_tokens"] < 2

    puts = context.store.puts
    second = run(tables, params, context)
    assert context.store.puts == puts, "nothing was asked again"
    assert second.tables["annotations"].equals(first.tables["annotations"])
    assert estimate(questions(), params, context.store).startswith("0 requests to make")


def test_a_wrong_schema_mode_still_ends_in_labels_or_classified_failures(llm_server: LlmServer, context):
    options = AnnotateLlmOptions(
        base_url=llm_server.base_url,
        model=llm_server.model,
        response_format="none",
        max_tokens=16,
        timeout=300,
        concurrency=2,
    )
    context.store = MemoryStore()
    tables = {"questions": Question.to_frame(questions()[:1])}
    result = run(tables, AnnotateParams(llm=options), context)
    assert result.counts.balanced()
    assert {item.reason for item in result.review} <= {"truncated", "malformed_json", "invalid_label", "empty"}
