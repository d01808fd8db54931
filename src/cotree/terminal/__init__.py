"""One law per kind of component. A module is loaded when one of its kinds is used (`cotree.model.kinds`)."""
