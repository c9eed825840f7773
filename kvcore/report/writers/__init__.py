"""Writers: a document as terminal text, Markdown or HTML."""
