"""A gate that may be asked many times on the same rows: its file, its questions, its budget."""
