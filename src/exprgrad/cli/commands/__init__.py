"""The commands, a module each, or one for those that are alike; the name of the file lists them."""
