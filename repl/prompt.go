package repl

import "context"

func (s *session) prompt(ctx context.Context) int { return s.script(ctx, s.cfg.Stdin) }
