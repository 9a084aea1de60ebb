"""The ground below every room: errors, numbers, addresses, commands, statements, shared files, claims of work.

It knows no dataset and no person.
"""
