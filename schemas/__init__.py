"""What things are: records, tables, label sets. Imports nothing of ours, does no I/O but its own data files."""
