"""What is estimated: means of losses, areas under the ROC curve, scores of whole test sets."""
