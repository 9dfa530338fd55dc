"""Each module owns exactly one outside thing: git, an index, a file format, a lock. Stores do not import each other."""
