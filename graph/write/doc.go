// Package write writes a graph as the JSON that atc --mode=1 and --mode=5 make of it, for the programs that read those.
package write
