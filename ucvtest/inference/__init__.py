"""The frame that all tests share: from a question to a result."""
