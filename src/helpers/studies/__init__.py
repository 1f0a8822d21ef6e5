"""What a study's files mean, and what its own method needs."""
