"""Options of the export stage."""

from pydantic import field_validator

from build_dataset.schemas.params import Params, option


class ExportParams(Params):
    """The ``[export]`` section of ``dataset.toml``."""

    cmb_json: bool = option(True, "Write cmb/SPLIT.json as well, for tools that read CMB")
    cmexam_csv: bool = option(True, "Write cmexam/SPLIT.csv as well, for tools that read CMExam")
    images: bool = option(False, "Write images/SPLIT.parquet as well: questions with the cut-out from their page")
    tasks: str = option("", "Write task files for these tools as well, e.g. lm-eval,inspect,opencompass,lighteval")

    @field_validator("tasks")
    @classmethod
    def _known(cls, value: str) -> str:
        from build_dataset.pipeline.export.formats import TASKS

        names = [name.strip() for name in value.split(",") if name.strip()]
        if unknown := sorted(set(names) - set(TASKS)):
            raise ValueError(f"knows no tool {unknown[0]!r}; there are {', '.join(TASKS)}")
        return ",".join(name for name in TASKS if name in names)

    def tools(self) -> tuple[str, ...]:
        """The tools that task files are written for."""
        return tuple(filter(None, self.tasks.split(",")))
