"""The same work done by others who keep steps of runs durably."""
