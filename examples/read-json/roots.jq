# The roots, a line each: operator, certainty, causes.
.roots[] | ["root", .op, .certainty, ([.causes[].kind] | join(","))] | @tsv
