// Package uplot is the vendored uPlot (MIT, see LICENSE), by which pages draw
// curves.
package uplot

import _ "embed"

// Script defines the global uPlot; Style is its style sheet.
var (
	//go:embed uPlot.iife.min.js
	Script string
	//go:embed uPlot.min.css
	Style string
)
