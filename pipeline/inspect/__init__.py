"""A page to check a paper with: its pages on the left, what became of every line on the right."""
