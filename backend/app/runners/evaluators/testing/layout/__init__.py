"""Where the files of a test run come from: the base's test setting laid over a candidate."""
