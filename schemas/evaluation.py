"""Records of evaluation, answers of models and their scores; of the audit, evidence against keys."""

from enum import StrEnum

from build_dataset.schemas.base import Record


class Outcome(StrEnum):
    """Outcome of one prompt."""

    ANSWERED = "answered"
    NO_ANSWER = "no_answer"  # Text came back, no answer could be read from it.
    REFUSED = "refused"
    TRUNCATED = "truncated"
    FAILED = "failed"  # The request did not succeed; it is asked again on the next run.


class Task(StrEnum):
    """Task that a model is given."""

    ANSWER = "answer"  # Choose the right options.
    EXPLANATION = "explanation"  # Write the solution's explanation.
    CLINICAL = "clinical"
    """Answer a question about a patient's case, earlier questions and their solutions given (CMB-Clin)."""


class Likelihood(Record):
    """Likelihood of an option under a model, by the continuation compared."""

    label: str
    value: float  # Log-likelihood, normalised as the run's options say.


class Sureness(StrEnum):
    """The sureness of a reading of an answer, by the rule that read it."""

    EXPLICIT = "explicit"  # 答案：B
    CONCLUDED = "concluded"  # B. 青霉素 …; 因此B正确
    INFERRED = "inferred"  # A错，C错，D错
    WEAK = "weak"  # the only letter of a text


class Prediction(Record):
    """Output of a model for one prompt."""

    run: str  # The evaluated model's name, e.g. `openai:gpt-4o` or `random`.
    task: Task = Task.ANSWER
    question_id: str  # Of a clinical case: `clin-CASE-TURN`.
    cluster: str | None = None  # The case that the question shares with others, or its own id; null for free text.
    repeat: int = 0  # Number of the repetition, where a prompt is asked several times.
    raw_output: str | None
    extracted: list[str] | None
    rule: str | None  # The extraction rule that fired.
    sureness: Sureness | None = None
    outcome: Outcome
    correct: bool | None  # Null when no answer was read, and for free text.
    span: list[int] | None = None
    """Offsets of the extracted answer in ``raw_output``: its first character, and the one after its last."""
    prompt_hash: str | None = None  # SHA-256 of the prompt as the model read it: a text, or the JSON of its messages.
    finish: str | None = None  # Reason for the end of the output: `stop`, `length`, `refusal`.
    model: str | None = None  # The model's name as the server reports it.
    seed: int | None = None  # Of sampling; null where nothing was sampled or the server chose.
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    likelihoods: list[Likelihood] | None = None  # Of every option, where options were compared.


class Score(Record):
    """A metric of a run over a slice of the test set."""

    run: str
    task: Task = Task.ANSWER
    dimension: str  # `overall`, `question_type`, `disease_group` …
    label: str
    label_en: str | None
    metric: str  # `accuracy`, `weighted_f1`, `no_answer_rate` …
    value: float | None  # The mean over repetitions.
    questions: int
    low: float | None
    high: float | None  # 95 % interval; null where there is none, as of people.
    interval: str | None = None
    """Method: ``wilson``; ``cluster_wilson`` for shares where questions share a case or were asked repeatedly;
    ``cluster_bootstrap`` for other metrics."""
    sd: float | None = None  # Standard deviation over repetitions; null where there was one.
    repeats: int = 1


class OpenQuestion(Record):
    """A question that is answered in free text, as people and judges see it."""

    task: Task
    question_id: str  # Of a clinical case: `clin-CASE-TURN`.
    case: str  # The patient's case; of an exam question the question itself, with its options.
    conversation: str | None  # Earlier questions with their solutions; null where there are none.
    question: str
    reference: str  # Reference that answers are compared with.


class Comparison(Record):
    """Two runs on the questions that both were asked, each run's first answer counting."""

    run_a: str
    run_b: str
    questions: int
    both_right: int
    only_a_right: int
    only_b_right: int
    neither_right: int
    difference: float  # Accuracy of a less accuracy of b.
    low: float | None
    high: float | None  # 95 % interval of the difference, by a bootstrap over shared cases.
    p_value: float  # Exact sign-flip test over cases, two-sided; McNemar's where no questions share a case.
    p_adjusted: float  # The same, corrected for the number of pairs compared (Holm).


class Judgement(Record):
    """A score that a judge, a model or an expert, gave a text in one aspect."""

    run: str
    task: Task
    question_id: str
    repeat: int = 0
    judge: str  # `llm:MODEL` or `expert:NAME`.
    aspect: str
    score: int  # From 1 to 5.


class AnswerScore(Record):
    """An expert's score of an answer in one aspect, as pulled from Label Studio."""

    answer_id: str  # Names what stood on the screen, whoever wrote it (`annotation.rubric`).
    aspect: str
    score: int  # From 1 to 5.
    expert: str
    note: str | None
    annotation_id: int
    updated_at: str
    seconds: float | None = None  # Time that the expert spent on the answer, as the screen measured it.


class SentAnswer(Record):
    """Run that gave an answer which experts score under an id; never leaves this machine. Equal answers share an id."""

    answer_id: str
    run: str
    task: Task
    question_id: str
    repeat: int = 0


class JudgeAgreement(Record):
    """Agreement of a judge with the experts, or of experts with each other, in one aspect."""

    judge: str  # `experts` for the experts among themselves.
    aspect: str  # `average` for the mean of all aspects.
    answers: int  # Answers that both scored.
    pearson: float | None
    spearman: float | None
    alpha: float | None  # Krippendorff's, for interval data.
    models: int = 0  # Runs whose answers both scored.
    ranking: float | None = None
    """Spearman's correlation of the runs' ranks by the judge and by the experts (CMB, figure 3); null below three."""


class Evidence(Record):
    """A reason to doubt a question, or to trust it."""

    kind: str  # `explanation`, `copies`, `model`, `people`, `options`, `expert`.
    source: str  # Source of the evidence: a run, the rule that read the explanation, the ids of copies.
    answer: list[str] | None  # The answer that it supports; null if it supports none.
    weight: float  # Natural logarithm of the likelihood ratio against the key; negative if it supports the key.
    detail: str  # One sentence for people.


class AuditItem(Record):
    """A question with the evidence for and against its key; the most suspicious first."""

    question_id: str
    content_hash: str
    suspicion: float  # Probability that the key, or the question, is wrong, by all evidence; 0..1.
    key: list[str]
    suggested: list[str] | None  # The most probable answer, where it is not the key; null where no single answer is.
    respondents: int  # Runs that answered it.
    right: float | None  # Share of them that gave the key.
    evidence: list[Evidence]  # The strongest first.


class AuditRespondent(Record):
    """Somebody whose answers the audit weighs: a run, a model of others, explanations, people."""

    respondent: str
    kind: str
    answers: int
    agrees: float  # Share of its answers that are the key.
    reliability: float  # Share of right answers by all evidence together; it weights this respondent.
