"""The commands, one module for each thing a user works with; imported when a command is called."""
