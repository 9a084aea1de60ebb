"""What `serve` starts and keeps alive: the web server, the workers and beat."""
