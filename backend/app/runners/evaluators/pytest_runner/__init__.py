"""What runs inside the child process that executes a workspace's tests."""
