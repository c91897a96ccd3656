package main
import _ "github.com/cavaliergopher/cpio"
