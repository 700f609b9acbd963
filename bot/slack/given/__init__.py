"""Files that people share with what they say: which are text, and what is in them."""
