"""Scripts that ``tools/pyc.mjs`` runs inside Pyodide; nothing here runs in the building Python."""
