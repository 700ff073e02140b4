"""Events: stored with a number, then delivered exactly once to each follower."""
