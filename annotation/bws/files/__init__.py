"""How do items, tuples, judgements and scores look in files?"""
