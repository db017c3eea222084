"""What a learner gains by columns of the features."""
