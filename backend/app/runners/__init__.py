"""The loop *produce, evaluate, decide* and the ways to start it."""
