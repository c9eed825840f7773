"""MkDocs plugins that turn the catalogue and the calculator into a published site."""
