// The generators of vector kernels, apart from the program so that it does not
// depend on what they are made with.
module precision/tools/gen

go 1.26.0

require (
	github.com/mmcloughlin/avo v0.5.0
	precision v0.0.0
)

require (
	golang.org/x/mod v0.23.0 // indirect
	golang.org/x/sync v0.20.0 // indirect
	golang.org/x/tools v0.30.0 // indirect
)

replace precision => ../..
