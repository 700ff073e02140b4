"""Judges values outside the candidate's process: tests run in one process, the candidate's code in another.

`outside_run` starts both. The other modules run inside these processes, under the workspace's interpreter.
They use only the standard library and pytest.
"""
