"""What a gate that is asked often promotes."""
