"""Values for inputs: reading, checking, and errors."""
