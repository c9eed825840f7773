"""The sections of a report's document, one module each, in the order a person reads them."""
