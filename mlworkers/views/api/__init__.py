"""What programs read of runs, and how they start them. Who may do what is what the pages say."""
