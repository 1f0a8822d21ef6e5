"""Statistics of any ratings: tables and columns in, estimates with intervals out."""
