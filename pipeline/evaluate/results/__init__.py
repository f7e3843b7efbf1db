"""Results as people read them: the papers' tables, plots, and what is said on the terminal."""
