package html

import (
	"embed"

	"precision/internal/msg"
)

// texts are what the page says.
//
//go:embed en.txt zh.txt
var texts embed.FS

var _ = msg.Register(texts)
