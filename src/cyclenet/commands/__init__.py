"""What each command of the program does: functions that return an `Outcome` and print nothing."""
