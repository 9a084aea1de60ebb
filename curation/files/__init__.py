"""Files of sentence pairs, in and out: CSV, TSV, JSONL and Parquet. Knows pyarrow, and no database."""
