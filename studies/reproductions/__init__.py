"""Numbers of the papers, beside ours."""
