"""Requests to language models: one client for annotation and evaluation, over any OpenAI-compatible endpoint."""
