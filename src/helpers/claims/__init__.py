"""Published claims, what was computed for them, and verdicts by one rule."""
