"""A model server that plays a script, in every dialect of the gateway."""
