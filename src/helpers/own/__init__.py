"""Anybody's ratings: look them over, analyse them, say what they tell."""
