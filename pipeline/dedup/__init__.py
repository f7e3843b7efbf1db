"""The dedup stage."""
