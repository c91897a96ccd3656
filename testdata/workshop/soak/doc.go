// Package soak damages what the program reads, kills it and fills its disk, and
// sees what comes of it. A campaign is a number of trials, each made from a seed
// of its own, so that any of them can be run again. go test runs a few hundred
// of them (cmd/precision), testdata/soak as many as there is time for. Another
// campaign damages what commands judge, and sees that no verdict gets better.
package soak
