//go:build !linux

package main

import "os/exec"

func inRoot(*exec.Cmd, string) bool { return false }
