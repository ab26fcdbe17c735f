# Of a log of `go test -v` or ctest: each failed test's name and, indented below it, the last lines that it said. Of a message of several lines
# (a replica's log, for example) the first few stand for all of it, so that what was wrong is among the lines that are printed.
#
#   awk -v most=20 -f failed_tests.awk LOG     most: so many lines of each

BEGIN { all = left = 1e9 }

# The lines between two of these belong to the test that the first one names.
/^=== (RUN|NAME|CONT|PAUSE) / { test = $3; next }
/^ *Start +[0-9]+: / { test = ""; next }
/^ *[0-9]+\/[0-9]+ +Test +#[0-9]+: / {
  test = $0
  left = all
  gsub(/^ *[0-9]+\/[0-9]+ +Test +#[0-9]+: | *\.* *(\*\*\*|Passed).*/, "", test)
  if (/\*\*\*(Failed|Exception|Timeout|Not Run)/) failed[++failures] = test
  next
}
/^ *--- FAIL: / { failed[++failures] = $3; test = $3; next } # what made it panic comes behind it
/^ *--- (PASS|SKIP): / { test = ""; next }
/^(PASS|FAIL)$/ { test = ""; next } # the end of a program of tests
# A message begins; its other lines are indented below it.
/^ +[^ ]+\.go:[0-9]+: / { left = 3 }
/^[^ ]/ { left = all }
/^        / && left-- <= 0 { next }
test != "" && NF > 0 { said[test, ++lines[test]] = $0 }

END {
  for (i = 1; i <= failures; ++i) {
    test = failed[i]
    print test
    for (line = lines[test] > most ? lines[test] - most + 1 : 1; line <= lines[test]; ++line) print "  " said[test, line]
  }
}
