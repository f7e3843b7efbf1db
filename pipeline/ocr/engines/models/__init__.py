"""Models and the measured worth of their confidence, see README.md."""
