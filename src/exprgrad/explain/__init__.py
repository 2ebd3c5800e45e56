"""What a run's numbers mean: where they stop being finite, and where a derivative is a convention."""
