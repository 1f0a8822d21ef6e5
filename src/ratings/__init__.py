"""Anybody's ratings: look, read, check, conclude, report; the command `ratings`."""
