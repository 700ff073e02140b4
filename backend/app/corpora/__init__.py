"""Labelled cases that the evaluators are measured on."""
