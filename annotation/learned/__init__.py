"""Learning labels from questions that experts have reviewed."""

LEAST = 20
"""Reviewed questions below which nothing is learned: of all, and of one dimension."""
