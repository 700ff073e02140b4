"""The loop *produce, evaluate, decide* and its drivers."""
