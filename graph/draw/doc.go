// Package draw makes pictures of graphs: a [Drawing] is the neighbourhood of an operator ([Neighborhood]) or a graph
// ([Whole]), written as SVG ([Drawing.WriteSVG]) or in the DOT language ([Drawing.WriteDOT]), with operators coloured by
// type or by a metric ([Style]).
package draw
