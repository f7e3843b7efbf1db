from __future__ import annotations

import builtins

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from build_dataset.annotation import tokens
from build_dataset.annotation.llm_annotator import label_prompt
from build_dataset.annotation.params import AnnotateLlmOptions

TEXTS = {
    "Chinese": "患者，女，56岁。反复上腹部疼痛3年，加重伴黑便2天。查体：贫血貌，剑突下压痛，Hb 82g/L。"
    "首选的检查是\nA. 腹部B超\nB. 上消化道钡餐\nC. 胃镜\nD. 腹部CT\nE. 粪便隐血试验\n答案：C\n"
    "解析：消化道出血首选胃镜检查，可明确部位和原因。",
    "English": "A 56-year-old woman has had recurrent epigastric pain for three years and melena for two days. "
    "Haemoglobin is 8.2 g/dL. Which is the most appropriate next step?\nA. Abdominal ultrasonography\nB. Barium "
    "swallow\nC. Oesophagogastroduodenoscopy\nD. Computed tomography\nAnswer: C",
    "law": "甲公司与乙公司签订买卖合同，约定2024年3月1日交货。因甲公司迟延，乙公司解除合同并请求赔偿损失。"
    "下列表述正确的是\nA. 解除权的行使须经人民法院确认\nB. 解除后仍可请求赔偿\nC. 违约金与定金可以并用\n"
    "D. 合同自始无效",
    "traditional": "下列有關急性冠心症之敘述，何者錯誤？\nA. ST段上升型應儘速再灌流治療\nB. 硝化甘油可緩解胸痛\n"
    "C. 肌鈣蛋白不會上升",
    "instructions": label_prompt(AnnotateLlmOptions(model="m")).system,
}


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_tokens_are_told_within_the_stated_bound_without_the_exact_encoding(text):
    bpe = pytest.importorskip("bpe_openai", reason="the extra `tokens` is not installed")
    exact = len(bpe.get_encoding("o200k_base").encode_ordinary(text))
    assert tokens.approximate_tokens(text) == pytest.approx(exact, rel=0.08)
    everything = "\n".join(TEXTS.values())
    exact = len(bpe.get_encoding("o200k_base").encode_ordinary(everything))
    assert tokens.approximate_tokens(everything) == pytest.approx(exact, rel=0.05)


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=60))
def test_any_text_has_a_count_and_no_character_is_left_out(text):
    pieces = [found[0] for found in tokens._PIECE.finditer(text)]
    assert "".join(pieces) == text
    assert 0 <= tokens.approximate_tokens(text) <= 3 * len(text)


def test_common_words_are_one_token_and_rare_characters_two():
    assert tokens.approximate_tokens("患者") == 1
    assert tokens.approximate_tokens("龘") == 2
    assert tokens.approximate_tokens("") == 0


def test_the_exact_encoding_counts_where_the_package_is_there_and_its_absence_is_told(monkeypatch):
    pytest.importorskip("bpe_openai", reason="the extra `tokens` is not installed")
    tokens.token_counter.cache_clear()
    count, name = tokens.token_counter()
    assert (count("hello world"), name) == (2, "o200k_base")
    assert count("<|endoftext|>") > 1, "text of papers is never a control token"
    real = builtins.__import__

    def without(name, *given, **more):
        if name == "bpe_openai":
            raise ImportError
        return real(name, *given, **more)

    monkeypatch.setattr(builtins, "__import__", without)
    tokens.token_counter.cache_clear()
    assert tokens.token_counter() == (tokens.approximate_tokens, "± 5 % of o200k_base")
    tokens.token_counter.cache_clear()
