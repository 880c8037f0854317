"""Exporter of the training goldens. Run from the folder above `export/`: `python -m export.mtp_training.all`."""
