from __future__ import annotations

from build_dataset.pipeline.audit.stage import REASON
from build_dataset.pipeline.review.stage import waiting_questions
from build_dataset.pipeline.runtime.publish import read_table, write_table
from build_dataset.schemas.questions import Question, ReviewItem


def test_a_key_that_the_audit_doubts_goes_to_people_with_its_reasons(built):
    question = next(Question.from_frame(read_table(built.build / "parse" / "questions.parquet")))
    item = ReviewItem(
        item_id=question.question_id,
        question_ids=[question.question_id],
        stage="audit",
        reason=REASON,
        detail=f"{REASON}: the key A is wrong with probability 0.90, perhaps B",
        item=question.model_dump_json(exclude_none=True),
    )
    before, _ = waiting_questions(built.build)
    (built.build / "audit").mkdir(exist_ok=True)
    write_table(ReviewItem.to_frame([item]), built.build / "audit" / "review.parquet")
    pairs, _ = waiting_questions(built.build)
    added = [pair for pair in pairs if pair not in before]
    assert [(each.reason, asked.question_id, asked.stem) for each, asked in added] == [
        (REASON, question.question_id, question.stem)
    ]
