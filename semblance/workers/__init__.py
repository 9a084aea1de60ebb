"""The workers of the installation: what each is and does, and draining them before they are stopped."""
