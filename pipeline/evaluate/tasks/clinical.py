"""Questions about patients' cases: CMB-Clin (CMB, sections 3.3 and 5).

A model sees the case, the earlier questions of it with their reference solutions, and the question at hand, so that
one poor answer does not spoil the next.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pipeline.evaluate.backends.base import Backend, Generation
from pipeline.evaluate.params import Asked
from pipeline.evaluate.prompting import Message, Prompt, Template, load_template
from pipeline.evaluate.slices import OVERALL
from pipeline.evaluate.tasks.base import LeftOut, Material, Reading
from pipeline.evaluate.tasks.cases import Case, Turn, load_cases
from pipeline.evaluate.tasks.freetext import Wanted, read_texts
from schemas.evaluation import Task


class ClinicalWork:
    """Every question of every case."""

    def __init__(self, options: Asked, material: Material) -> None:
        self._keep_prompts = material.keep_prompts
        template = load_template(options.template(), options.task)
        self.left_out: Sequence[LeftOut] = ()
        self.prompts: list[Prompt] = []
        self._wanted: dict[str, Wanted] = {}
        asked = 0
        for case in load_cases(material.cases):
            for number, turn in enumerate(case.turns):
                if material.limit is not None and asked >= material.limit:
                    return
                asked += 1
                item = item_id(case, number)
                for repeat in range(options.repeats):
                    name = item if repeat == 0 else f"{item}#{repeat}"
                    self.prompts.append(Prompt(name, conversation(template, case, number), repeat=repeat))
                    self._wanted[name] = Wanted(item, turn.solution, (OVERALL,), case.id)

    def read(self, run: str, backend: Backend, made: Mapping[str, Generation]) -> Reading:  # noqa: ARG002
        """See ``TaskWork``."""
        return read_texts(
            run, Task.CLINICAL, self.prompts, self._wanted, made, keep_prompts=self._keep_prompts
        )


def item_id(case: Case, number: int) -> str:
    """The name of a case's question in every table; ``number`` counts from 0."""
    return f"clin-{case.id}-{number + 1}"


def conversation(template: Template, case: Case, number: int) -> tuple[Message, ...]:
    """The case, what was asked of it before and the solutions, and question ``number``."""
    turns: list[Message] = []
    if template.system is not None:
        turns.append({"role": "system", "content": template.system})
    for index, turn in enumerate(case.turns[: number + 1]):
        asked = template.question if index == 0 or template.follow_up is None else template.follow_up
        turns.append({"role": "user", "content": _fill(asked, case, turn)})
        if index < number:
            turns.append({"role": "assistant", "content": _fill(template.answer, case, turn)})
    return tuple(turns)


def _fill(template: str, case: Case, turn: Turn) -> str:
    return template.strip("\n").format(
        title=case.title or "", description=case.description, question=turn.question, solution=turn.solution
    )
