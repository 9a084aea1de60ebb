"""Views only translate: find what the address names, ask access, call a service or a selector, answer."""
