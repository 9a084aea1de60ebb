"""People and programs with an account: members and roles, tokens, sign-on, mail, webhooks and the audit log.

members    who belongs to a dataset, invitations, erasing an account
audit      the log of changes: who changed what
accounts/  API tokens, sessions, second factors, wrong passwords, visitors' addresses
sign_on/   login through an OpenID provider, and the roles that its groups give
mail/      e-mails as rows, and the worker that sends them
webhooks/  events as rows, and the worker that sends them, signed
outgoing   what mail and webhooks share: tries with growing pauses
"""
