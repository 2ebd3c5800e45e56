"""Tables, traces, documents, pictures and the page."""
