"""Where the files of a run come from."""
