"""How a derivative comes about, rule by rule."""
