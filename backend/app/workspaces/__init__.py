"""Working trees, their git history, and the processes that run in them."""
