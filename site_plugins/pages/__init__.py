"""Pages from the catalogue: one per model, an index, an overview of cache kinds, and figures inside written pages."""
