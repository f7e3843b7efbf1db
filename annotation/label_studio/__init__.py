"""Review by experts in Label Studio: the screen, the server, and what goes there and back."""
