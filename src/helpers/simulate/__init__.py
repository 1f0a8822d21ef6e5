"""Tables of the studies with a known truth, for tests and for runs without data."""
