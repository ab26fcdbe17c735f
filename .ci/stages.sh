# Stages of a build or test run: one line each on the terminal, all output in build/logs/.
#
# Source it, then:  stage NAME WHAT COMMAND…       a step that works or not
#                   tests NAME WHAT COMMAND…       a step whose log says how many tests it ran
#                   finish                         the closing line; fails if anything failed
# A failed stage shows the end of its log, and the stages after it still run, unless they need it:
# `stage` and `tests` return the command's outcome, so that  stage … || finish  gives up.

cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1
mkdir -p build/logs
passed_total=0
failed_total=0

_run() {  # NAME WHAT COMMAND…: sets $outcome, $seconds, $log
  local name=$1 what=$2
  shift 2
  log=build/logs/$name.log
  printf '%-12s %-48s ' "$name" "$what"
  local started=$SECONDS
  if "$@" > "$log" 2>&1; then outcome=0; else outcome=$?; fi
  seconds=$((SECONDS - started))
}

_show_failure() {
  echo "---- the end of $log:"
  tail -n 40 "$log"
  echo "----"
}

stage() {
  _run "$@"
  if [ "$outcome" = 0 ]; then
    printf 'ok      %4d s\n' "$seconds"
  else
    printf 'FAILED  %4d s   %s\n' "$seconds" "$log"
    failed_total=$((failed_total + 1))
    _show_failure
  fi
  return "$outcome"
}

# Counts in a log: lines that `go test -v` or ctest print for each test.
_count() {
  grep -cE "$1" "$log" || true
}

tests() {
  _run "$@"
  local passed failed
  passed=$(_count '^ *[0-9]+/[0-9]+ +Test +#[0-9]+: .* Passed |^ *--- PASS: ')
  failed=$(_count '^ *[0-9]+/[0-9]+ +Test +#[0-9]+: .*\*\*\*(Failed|Exception|Timeout|Not Run)|^ *--- FAIL: ')
  # A command that failed without a failed test, or that ran none, is a failure of its own.
  if [ "$outcome" != 0 ] && [ "$failed" = 0 ]; then failed=1; fi
  if [ "$outcome" = 0 ] && [ "$passed" = 0 ]; then failed=1; outcome=1; fi
  passed_total=$((passed_total + passed))
  failed_total=$((failed_total + failed))
  printf '%s  %4d s   %d passed, %d failed\n' "$([ "$failed" = 0 ] && echo 'ok    ' || echo 'FAILED')" \
    "$seconds" "$passed" "$failed"
  [ "$failed" = 0 ] || _show_failure
  return "$outcome"
}

finish() {
  echo "$passed_total passed, $failed_total failed"
  [ "$failed_total" = 0 ] && exit 0
  exit 1
}
