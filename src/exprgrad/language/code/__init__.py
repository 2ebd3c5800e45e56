"""Code: graphs as programs in other languages."""
