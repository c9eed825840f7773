"""Charts on built pages: drawn once by vl-convert from kvcore's specifications, and coloured by the page they stand in."""
