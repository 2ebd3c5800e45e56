"""What to write instead of a formula that goes wrong in doubles: found, written, and tried at the point."""
