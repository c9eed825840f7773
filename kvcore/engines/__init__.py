"""Engine profiles: how each engine stores and pages a layout."""
