"""Connects runs with forges: starts runs from issues, handles deliveries, and sends reports."""
