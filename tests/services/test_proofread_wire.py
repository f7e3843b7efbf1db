"""A real model proofreads: schema, several questions in a request and store hold; its doubts are worth nothing."""

from build_dataset.pipeline.proofread.params import KINDS, ProofreadParams
from build_dataset.pipeline.proofread.stage import run
from build_dataset.schemas.annotations import Correction
from build_dataset.schemas.questions import DoubtedPlace, Question
from tests.making import make_question


def test_a_real_model_only_points_and_is_paid_once(llm_server, context):
    rows = [
        make_question("溃疡性结肠炎最常累及的部位是", "乙状结场 回肠 空肠 胃", number=1),
        make_question("成人每日需水量约为", "500ml 2000ml 5000ml 8000ml", "B", number=2),
    ]
    tables = {"questions": Question.to_frame(rows), "corrections": Correction.to_frame([])}
    options = {"base_url": llm_server.base_url, "model": llm_server.model, "max_tokens": 400, "max_retries": 0}
    params = ProofreadParams(**options, timeout=600)
    first = run(tables, params, context)
    assert first.counts.balanced()
    texts = {row.question_id: row.model_dump_json() for row in rows}
    for doubt in DoubtedPlace.from_frame(first.tables["doubts"]):
        assert doubt.kind in KINDS
        assert doubt.quote in texts[doubt.question_id]
    kept = {row.question_id: row.model_dump_json() for row in Question.from_frame(first.tables["questions"])}
    assert kept.items() <= texts.items()
    if first.complete:
        puts = context.store.puts
        again = run(tables, params, context)
        assert (again.facts, again.tables["doubts"].rows()) == (first.facts, first.tables["doubts"].rows())
        assert context.store.puts - puts <= 1  # nothing was asked
