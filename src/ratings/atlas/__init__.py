"""Other public sets of ratings: where they are, and their ratings in one form."""
