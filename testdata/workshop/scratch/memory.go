//go:build !linux

package scratch

func inMemory() string { return "" }
