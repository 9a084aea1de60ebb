"""What makes pairs related: words in common, word vectors, parts of speech, subjects and objects."""
