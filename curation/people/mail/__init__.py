"""E-mail, where the settings name a mail server: invitations, new passwords, and proofs of an address."""
