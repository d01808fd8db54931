"""Bond graphs beside the branch formulation of the same mechanisms."""
