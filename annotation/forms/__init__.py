"""Forms: what pages ask, and the sentence for an answer that cannot be used."""
