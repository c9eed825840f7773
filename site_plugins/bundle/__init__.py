"""The browser bundle: Pyodide, a trimmed standard library, kvcore as byte code, and the calculator's scripts."""
