"""Other public sets of ratings: read, ask the same questions of all, sum up."""
