"""Text to values: front-matter, markdown, query syntax, configuration. Reads no files."""
