"""What reviewers read and decide: escalations, results, marks and track records."""
