"""Counter-tests: runs the base's tests with one expectation changed, which they must then notice."""
