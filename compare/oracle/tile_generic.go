//go:build (!amd64 && !arm64) || noasm

package oracle

// levels has nothing but Go.
var levels = []tileLevel{inGo}
