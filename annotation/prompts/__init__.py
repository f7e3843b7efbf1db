"""Prompts as versioned files; what they say is part of every stored answer's key."""
