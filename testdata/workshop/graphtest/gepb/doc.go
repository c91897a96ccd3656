// Package gepb is the generated form of the GE graph schema. The readers of package graph do without it; it is
// the reference their tests compare with.
package gepb

//go:generate protoc --go_out=. --go_opt=paths=source_relative ge.proto
