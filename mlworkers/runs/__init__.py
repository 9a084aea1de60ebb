"""Runs: started, claimed, shared among workers, watched, ended; their files and their results."""
