//go:build !linux && !darwin

package main

func mkfifo(string) bool { return false }
