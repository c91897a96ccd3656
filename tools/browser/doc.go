// Package browser holds the tests of the report that need a real browser: they
// drive Chromium and skip where there is none.
package browser
