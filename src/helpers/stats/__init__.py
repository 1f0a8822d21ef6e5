"""Statistics of any ratings: wide tables and column names in, estimates with intervals out."""
