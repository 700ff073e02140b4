"""The loop *produce, evaluate, decide* and its front doors."""
