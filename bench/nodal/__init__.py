"""Ring trusses in nodal coordinates: Cotree and its peer on the same model at the same error."""
