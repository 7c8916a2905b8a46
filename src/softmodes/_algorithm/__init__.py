"""What happens between passes: seeding, rounding, the loop."""
