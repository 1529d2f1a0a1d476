"""Loop nests, between operators and the text of loops: `of` makes them, printers write them for people and for C."""
