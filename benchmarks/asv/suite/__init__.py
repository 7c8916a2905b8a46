"""Times, and beside every time what was found: a faster wrong answer shows."""
