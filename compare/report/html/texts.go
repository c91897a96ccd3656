package html

import (
	"embed"

	"precision/internal/msg"
)

// texts are what the page says.
//
//go:embed en.txt zh.txt
var texts embed.FS

func init() { msg.Register(texts) }
