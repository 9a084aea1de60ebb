"""Single sign-on: people who log in with a provider of OpenID Connect, and the roles that its groups give them."""
