"""The page on which a formula is stepped through: one HTML file that needs nothing else."""
