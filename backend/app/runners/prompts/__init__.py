"""The words in which agents are asked."""
