"""Probability of characters by what stands around them."""

import numpy as np
import pytest
from threadpoolctl import threadpool_info  # type: ignore[import-untyped]

from build_dataset.pipeline.ocr.language.context import Network

NETWORK = Network.shipped()


def logs(texts: list[str], char: str, *others: str) -> list[float]:
    row = next(row for row, text in enumerate(texts) if char in text)
    return NETWORK.logs(texts, [(row, texts[row].index(char), [char, *others])])[0].tolist()


@pytest.mark.parametrize(
    ("text", "char", "other"),
    [
        ("告知其糞便潛血檢查", "糞", "冀"),
        ("患者出现热性痉挛，应立即", "痉", "座"),
        ("下列敘述何者正確", "敘", "救"),
        ("先天性食道瘘管的手术", "瘘", "瘦"),
    ],
)
def test_the_character_that_was_printed_is_likelier_than_its_look_alike(text, char, other):
    right, wrong = logs([text], char, other)
    assert right > wrong + 3


def test_traditional_and_simplified_forms_are_one():
    assert logs(["檢查腦部的腫瘤"], "腫") == logs(["检查脑部的肿瘤"], "肿")


def test_the_other_texts_of_a_page_count():
    alone, beside = (logs([*page, "A.荚膜"], "荚")[0] for page in ([], ["肺炎链球菌的主要致病物质是"]))
    assert beside > alone


def test_a_row_of_marks_is_one():
    assert logs(["诊断为（ ）……肺炎"], "炎") == logs(["诊断为，肺炎"], "炎")


def test_a_character_that_was_not_learned_has_no_probability():
    known, unknown = logs(["外科医师"], "科", "\u3400")
    assert (np.isnan(known), np.isnan(unknown)) == (False, True)


def test_a_character_alone_has_a_probability():
    assert logs(["肝"], "肝")[0] < 0


def test_many_places_are_told_as_each_by_itself():
    text = "慢性肾盂肾炎病人的尿液检查" * 12
    asked = [(0, at, [char, "的"]) for at, char in enumerate(text)]
    together, alone = NETWORK.logs([text], asked), [NETWORK.logs([text], [one])[0] for one in asked[60:70]]
    assert np.allclose(together[60:70], alone, atol=1e-3)


def test_nothing_asked_is_nothing_told():
    assert NETWORK.logs(["肝炎"], []) == []


def test_the_network_computes_on_one_thread(monkeypatch):
    told, seen = Network._told, set()

    def noted(own, windows):
        seen.update(one["num_threads"] for one in threadpool_info() if one["user_api"] == "blas")
        return told(own, windows)

    monkeypatch.setattr(Network, "_told", noted)
    logs(["下列敘述何者正確"], "敘")
    assert seen == {1}
