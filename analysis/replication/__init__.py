"""Published studies, computed again from their public packages.

`published/` has one file a study, found by discovery. The files of a package are stored as they
are (`importing`), and every figure is a function of these rows (`package`, `figures`), so that it
can be computed again when the folder is gone.
"""
