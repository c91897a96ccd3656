// Package dumppb is the generated form of the header of a device dump. Package dump reads it without; it is what tests write headers with.
//
// To generate it anew, with protoc 3.21 or later and protoc-gen-go of the
// version go.mod names for google.golang.org/protobuf:
//
//	go generate ./testdata/workshop/dumptest/dumppb
package dumppb

//go:generate protoc --go_out=. --go_opt=paths=source_relative dump.proto
