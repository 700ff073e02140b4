"""Files of working trees: which may be read, shown, kept or removed."""
