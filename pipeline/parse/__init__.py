"""The parse stage."""
