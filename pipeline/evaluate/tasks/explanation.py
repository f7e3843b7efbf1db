"""Writing the solution's explanation: the reasoning task of CMExam (section 4.1, table 3)."""

from __future__ import annotations

from collections.abc import Mapping

from pipeline.evaluate.backends.base import Backend, Generation
from pipeline.evaluate.params import Asked
from pipeline.evaluate.prompting import Prompt, load_template, messages
from pipeline.evaluate.scoring import cluster
from pipeline.evaluate.slices import slices_of
from pipeline.evaluate.tasks.base import LeftOut, Material, Reading
from pipeline.evaluate.tasks.freetext import Wanted, read_texts
from schemas.evaluation import Task


class ExplanationWork:
    """Every question of the split that the paper explains."""

    def __init__(self, options: Asked, material: Material) -> None:
        self._keep_prompts = material.keep_prompts
        template = load_template(options.template(), options.task)
        examples = material.examples(options.shots)
        explained = [row for row in material.questions if row.explanation]
        self.left_out = [
            *(
                LeftOut(row.question_id, "no_answer_key", "the question has no key to explain")
                for row in material.keyless
            ),
            *(
                LeftOut(row.question_id, "no_explanation", "the paper does not explain the question")
                for row in material.questions
                if not row.explanation
            ),
        ]
        self.prompts: list[Prompt] = []
        self._wanted: dict[str, Wanted] = {}
        for row in explained:
            asked = messages(template, row, examples.of(row))
            for repeat in range(options.repeats):
                name = row.question_id if repeat == 0 else f"{row.question_id}#{repeat}"
                self.prompts.append(Prompt(name, asked, row, repeat=repeat))
                self._wanted[name] = Wanted(
                    row.question_id, row.explanation or "", tuple(slices_of(row)), cluster(row)
                )

    def read(self, run: str, backend: Backend, made: Mapping[str, Generation]) -> Reading:  # noqa: ARG002
        """See ``TaskWork``."""
        return read_texts(
            run, Task.EXPLANATION, self.prompts, self._wanted, made, keep_prompts=self._keep_prompts
        )
