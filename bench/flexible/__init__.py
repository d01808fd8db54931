"""Flexible mechanisms: Cotree and its peers on the same model at the same error."""
