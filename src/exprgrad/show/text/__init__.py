"""Answers as text: tables, traces, sentences."""
