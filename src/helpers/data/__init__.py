"""Find a file, read it, check it; what the papers print."""
