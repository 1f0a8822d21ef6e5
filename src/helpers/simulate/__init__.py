"""The tables of the studies with a known truth, for tests and where real data cannot be had."""
