"""Find a data file, read it and check it, so that a wrong one is refused in plain words."""
