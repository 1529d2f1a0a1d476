"""From the nodes of a YAML file to operators: every key of an entry has its reader."""
