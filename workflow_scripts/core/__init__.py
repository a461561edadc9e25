"""What two chapters need. Core knows no chapter."""
