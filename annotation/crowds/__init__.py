"""People whom a platform sends: how they enter a campaign by a link, and how they leave it with a code."""
