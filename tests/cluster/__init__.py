"""The profile for any batch system, tried on a stand-in that starts a process for each job."""
