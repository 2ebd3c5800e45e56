"""Values for inputs: read, checked, and what is wrong with them."""
