"""Counter-tests: runs the base's tests with one expectation changed, so that they must fail."""
