"""Data published beside the pages, under an address that carries the version of its format."""
