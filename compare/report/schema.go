package report

import _ "embed"

// JSONSchema is the JSON Schema of the file that [WriteJSON] writes.
//
//go:embed schema/verdict-2.json
var JSONSchema []byte
