// Package report renders what a comparison found: tables as csv, reasons as
// sentences in a language, and judged tables for people and for programs.
//
// A [result.Table] and a [verdict.Judged] have no text in them. Here, and nowhere
// else, they get one:
//
//   - [Text] says a verdict to people in lines of a few lengths, as data with
//     styles; [OperatorLines] is a line for every operator, to be sorted.
//   - [WriteJSON] writes a judged table for programs, under a schema, and [ReadJSON]
//     gives the table back without loss, to be judged again.
//   - [JUnit] and [SARIF] are for CI and for code review.
//   - [CSV] writes the table of msaccucmp.py byte by byte, and
//     [ReadCSV] reads tables of any generation back, for those who have no
//     better record of a comparison;
//   - [Sentence] says a [result.Reason] in a language. The English sentences
//     are those of the csv's last column.
//
// No renderer judges: what is good or bad, and what a gate stops at, they ask the
// judged table. Nothing else in the program reads a csv table or a sentence.
package report
