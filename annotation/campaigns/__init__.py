"""Campaigns: settings, cost, designs, and what is asked for after the launch."""
