"""What a study needs, looked at before it runs: sources, models, disk, machine and jobs."""
