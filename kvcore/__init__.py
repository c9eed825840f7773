"""Exact key-value cache sizing for large language models, as the serving engines compute it."""

__version__ = "0.1.0"
