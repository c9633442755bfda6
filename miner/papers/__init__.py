"""Papers: OpenAlex, Scopus, files of reference managers; records that are the same paper."""
