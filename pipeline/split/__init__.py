"""The split stage."""
