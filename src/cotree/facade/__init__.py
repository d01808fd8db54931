"""The two classes that users meet most, a model and its solution, in parts; `cotree.api` puts them together."""
