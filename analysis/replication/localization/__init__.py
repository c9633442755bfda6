"""The parts of the study of bug localization: labels, results of techniques, dynamic analysis."""
