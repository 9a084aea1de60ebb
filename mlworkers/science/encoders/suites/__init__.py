"""Named suites of test files, in the layouts in which they are published, and what an encoder is worth on them."""
