"""Numbers of the papers, compared with ours."""
