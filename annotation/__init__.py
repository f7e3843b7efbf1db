"""Who says what a question is: annotators, Label Studio, agreement, adjudication."""
