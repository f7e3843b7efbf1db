"""Term lists of the lexicon annotator, written for this project from general medical knowledge."""
