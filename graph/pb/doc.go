// Package pb is the generated form of the GE graph schema. The readers of package graph do without it; it is
// the reference their tests compare with.
package pb

//go:generate protoc --go_out=. --go_opt=paths=source_relative ge.proto
