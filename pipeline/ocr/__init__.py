"""The ocr stage."""
