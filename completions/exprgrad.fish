complete --command exprgrad --no-files --arguments "(COMP_LINE=(commandline --cut-at-cursor | string collect) _EXPRGRAD_COMPLETE=fish_complete exprgrad)"
