"""The leaks stage."""
