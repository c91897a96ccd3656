package browse

import (
	"embed"

	"precision/internal/msg"
)

// texts are what this package says.
//
//go:embed en.txt zh.txt
var texts embed.FS

var _ = msg.Register(texts)
