"""Reconcile: an engine's log in, an explanation of every gap to the computed figures out."""
