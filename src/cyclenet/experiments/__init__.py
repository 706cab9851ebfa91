"""Experiments: what a TOML file of a table asks for, and the records that answer it.

`spec` and `record` need no torch, so that tables and reports are made where nothing is trained.
"""
