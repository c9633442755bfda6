"""Label Studio: projects, tasks and labels on a real server."""
