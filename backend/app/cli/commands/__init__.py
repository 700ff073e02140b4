"""The commands, one module for each subject. A module is imported when its command is called."""
