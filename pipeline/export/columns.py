"""What the columns of a release mean, for its card."""

from __future__ import annotations

from schemas.release import ReleaseRow, label_columns
from schemas.taxonomy import dimensions

_MEANING = {
    "question_id": "A paper's: first 8 hex digits of its file's SHA-256, section, number; a table's: r- and a hash of "
    "the source's own id, or of what the question says",
    "question_type": "A1, A2 (case), A3/A4 (shared case), B1 (shared options), X (several answers)",
    "stem": "The question",
    "shared_stem": "The case that all questions of a group share",
    "group_id": "Group of questions with a shared case or shared options; never split apart",
    "options": "List of label and text",
    "answer": "Letters of the right options",
    "accepted_answers": "All answers that earn the mark, where a corrected key accepts several",
    "explanation": "Explanation of the answer",
    "human_accuracy": "Share of people who answered it correctly, 0 to 1",
    "respondents": "Number of those people",
    "exam_type": "Category of the exam",
    "exam_class": "Subcategory of the exam",
    "exam_subject": "Subject of the exam",
    "difficulty_estimate": "True where difficulty is a guess, false where it was measured on people",
    "annotator": "Who gave the labels that are no expert's",
    "corrected": "What people corrected after reading: answer, options, shared_stem, stem; empty where nothing was",
    "document": "File it stands in, under the raw folder",
    "number": "Number printed before it, or the row of a table",
    "sources": "Every place where it stands, merged copies included: document, and row or page",
    "cluster_id": "Cluster of similar questions; never split apart",
}


def meanings() -> dict[str, str]:
    """What each column of ``ReleaseRow`` means, in order.

    Raises:
        KeyError: a column is not explained.
    """
    explained = dict(_MEANING)
    for dimension in dimensions().values():
        label, english, status = label_columns(dimension.name)
        explained[label] = f"{dimension.en}: the label's Chinese name; null when there is none"
        explained[english] = "The label's English name"
        explained[status] = "How far the label can be trusted: see “How the labels were made”"
    return {name: explained[name] for name in ReleaseRow.column_names()}
