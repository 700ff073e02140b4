"""What the scripted model says, as a whole answer or as a stream: one module for each dialect."""
