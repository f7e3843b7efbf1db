"""Reading the answer out of what a model wrote about a multiple-choice question."""

from pipeline.claims import shown
from pipeline.evaluate.extraction.extract import Extraction, answers_first, extract
from pipeline.evaluate.extraction.rules import RULES

__all__ = ["RULES", "Extraction", "answers_first", "extract", "shown"]
