"""The guide of docs/guide as pages of the site. `pages` is a link to that folder, so that a wheel holds its files."""
