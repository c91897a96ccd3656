// Package pb holds the protobuf messages of a device dump header, generated
// from dump.proto.
//
// To generate them anew, with protoc 3.21 or later and protoc-gen-go of the
// version go.mod names for google.golang.org/protobuf:
//
//	go generate ./dump/pb
package pb

//go:generate protoc --go_out=. --go_opt=paths=source_relative dump.proto
