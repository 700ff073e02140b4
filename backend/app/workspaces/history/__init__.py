"""The git history of a run: commits, trees and diffs."""
