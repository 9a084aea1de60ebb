"""What programs read and change of datasets. Who may do what is what the pages say."""
