"""Re-executing bugs: artifacts, environments, sandbox, devices, oracles, verdicts, the sampler."""
