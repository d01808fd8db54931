"""Files: models as YAML or JSON."""

from cotree.io.model_file import ModelFile, model_data, model_from_data, read_model, write_model
from cotree.io.run_settings import RunSettings

__all__ = ["ModelFile", "RunSettings", "model_data", "model_from_data", "read_model", "write_model"]
