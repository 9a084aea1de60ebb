"""What will a campaign reach, and what has it reached so far?"""
