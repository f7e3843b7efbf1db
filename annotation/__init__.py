"""Labels of questions: annotators, Label Studio, adjudication."""
