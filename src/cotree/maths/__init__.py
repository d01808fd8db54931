"""Arrays, symbols and functions; the only place that knows array backends."""
