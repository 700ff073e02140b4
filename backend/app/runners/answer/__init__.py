"""Checked answers: evidence, rules, synthesizer and the steps that connect them."""
