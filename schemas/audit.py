"""Records of the audit: evidence against keys, and difficulty."""

from __future__ import annotations

from schemas.base import Record


class Evidence(Record):
    """A reason to doubt a question, or to trust it."""

    kind: str
    """``explanation``, ``copies``, ``model``, ``people``, ``options``, ``expert``."""
    source: str
    """Source of the evidence: a run, the rule that read the explanation, the ids of copies."""
    answer: list[str] | None
    """The answer that it speaks for; null where it speaks for none."""
    weight: float
    """Natural logarithm of the likelihood ratio against the key; negative where it speaks for the key."""
    detail: str
    """One sentence for people."""


class AuditItem(Record):
    """A question with what speaks for and against its key; the most suspicious first."""

    question_id: str
    content_hash: str
    suspicion: float
    """Probability that the key, or the question, is wrong, by all evidence; 0..1."""
    key: list[str]
    suggested: list[str] | None
    """The most probable answer, where it is not the key; null where no single answer is."""
    respondents: int
    """Runs that answered it."""
    right: float | None
    """Share of them that gave the key."""
    item_total: float | None
    """Classical discrimination: correlation of giving the key with the share of other questions right."""
    unpicked: list[str] | None
    """Distractors that nobody picked; null where fewer than 30 answered."""
    difficulty: float | None = None
    """Two-parameter logistic model: log-odds that a respondent of average ability misses it; null below 8 runs."""
    difficulty_low: float | None = None
    difficulty_high: float | None = None
    """95 % interval."""
    discrimination: float | None = None
    """Amount that one standard deviation of ability adds to the log-odds of giving the key; negative is suspicious."""
    discrimination_low: float | None = None
    discrimination_high: float | None = None
    evidence: list[Evidence]
    """The strongest first."""


class AuditRespondent(Record):
    """Somebody whose answers the audit weighs: a run, a model of others, explanations, people."""

    respondent: str
    kind: str
    answers: int
    agrees: float
    """Share of its answers that are the key."""
    reliability: float
    """Share that is right by all evidence together: what its word is weighed by."""
    ability: float | None = None
    """Two-parameter logistic model: in standard deviations over the respondents; null below 8 runs."""
