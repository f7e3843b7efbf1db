"""Renders the sample exam from its questions: PDFs, a scan, JSON, CSV, DOCX, a picture and the gold file."""
