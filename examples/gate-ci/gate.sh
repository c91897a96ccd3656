#!/bin/sh
# The gate of a pipeline, for any CI system: dumps in npu, golden arrays in golden,
# the graph in graph.txt. The exit status is 3 if the verdict is bad or inconclusive.
precision compare -lt npu -rt golden -g graph.txt -gate -json verdict.json -junit precision.xml -sarif precision.sarif -html report.html
