"""Counts of characters in Chinese text, and recognised words decoded with them."""
