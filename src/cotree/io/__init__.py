"""Files: models as YAML."""

from cotree.io.model_file import ModelFile, RunSettings, model_from_data, read_model, write_model

__all__ = ["ModelFile", "RunSettings", "model_from_data", "read_model", "write_model"]
