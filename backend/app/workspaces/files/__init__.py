"""Files of working trees: which ones may be read, shown, kept or removed."""
