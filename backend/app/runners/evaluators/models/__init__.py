"""What models are shown and asked, and what their answers amount to."""
