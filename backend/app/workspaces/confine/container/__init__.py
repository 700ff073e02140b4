"""Confines programs in containers of Docker or Podman."""
