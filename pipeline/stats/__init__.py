"""Statistics that several stages share: intervals and agreement."""
