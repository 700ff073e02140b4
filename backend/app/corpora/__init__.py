"""Labelled cases on which the evaluators are measured."""
