"""Execute notebooks, publish results, start a new notebook."""
