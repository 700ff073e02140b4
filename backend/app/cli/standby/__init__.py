"""A process that waits for hooks with the evaluation code loaded, so that they need not import it."""
