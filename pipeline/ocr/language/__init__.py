"""What Chinese text is like: counts of characters, and recognised words decoded with them."""
