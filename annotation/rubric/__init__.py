"""What judges and experts score in free text: the aspects with their scales, and the answers as both see them."""
