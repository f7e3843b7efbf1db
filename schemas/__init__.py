"""Records, tables and label sets. Imports nothing of ours and reads only its own data files."""
