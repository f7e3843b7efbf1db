"""Learning labels from questions that experts have reviewed."""

LEAST = 20
"""Least number of reviewed questions for learning: in all, and in one dimension."""
