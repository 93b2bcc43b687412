"""Look through a whole target before anybody relies on it: findings, not numbers."""
