"""A real model points at lines: its answers keep the schema, and what it proposes wrongly is not taken."""

from __future__ import annotations

from build_dataset.pipeline.parse.params import ParseParams
from build_dataset.pipeline.parse.stage import run
from build_dataset.schemas.documents import Document, Line, SourceRow
from tests.pipeline.parse.conftest import document_of, lines_of
from tests.pipeline.parse.test_pointing import PAPER, kept


def test_a_real_model_is_asked_once_and_harms_nothing(llm_server, context):
    tables = {
        "documents": Document.to_frame([document_of()]),
        "lines": Line.to_frame(lines_of(PAPER)),
        "rows": SourceRow.to_frame([]),
    }
    llm = {"base_url": llm_server.base_url, "model": llm_server.model, "max_tokens": 400, "max_retries": 0}
    without = run(tables, ParseParams(), context)
    result = run(tables, ParseParams.model_validate({"llm": llm}), context)
    assert result.facts["llm"]["asked"] == 1
    assert kept(result).items() >= kept(without).items()
