"""Reading the answer out of what a model wrote about a Chinese multiple-choice question."""

from pipeline.evaluate.extraction.extract import Extraction, extract
from pipeline.evaluate.extraction.folding import shown
from pipeline.evaluate.extraction.opening import answers_first
from pipeline.evaluate.extraction.rules import RULES

__all__ = ["RULES", "Extraction", "answers_first", "extract", "shown"]
