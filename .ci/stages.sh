# Stages of a build or test run: one line each on the terminal, all output in build/logs/.
#
# Source it, then:  stage NAME WHAT COMMAND…       a step that works or not
#                   tests NAME WHAT COMMAND…       a step whose log says how many tests it ran
#                   beside COMMAND                 begins other stages: COMMAND, a function, calls stage and tests
#                   lowest COMMAND…                a command that only computes, at the lowest priority: what waits for clocks is not held up
#                   await COMMAND NAME             waits for a stage of those that COMMAND calls and prints its line
#                   finish                         what failed, once more and shorter, and the closing line; fails if anything did
# A failed stage shows the end of its log, or what its failed tests said, and the stages after it still run, unless they need it:
# may_skip is a pattern of the names of tests that may be skipped: any other skipped test fails its stage.
# `stage`, `tests` and `await` return the command's outcome, so that  stage … || finish  gives up.

cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1
mkdir -p build/logs
# As many compilers as cores. With two more, as Ninja would begin, sources of tests took an eighth longer on two cores, and a tenth more of
# the processor: they crowd each other out of its cache.
export CMAKE_BUILD_PARALLEL_LEVEL=${CMAKE_BUILD_PARALLEL_LEVEL-$(nproc)}
passed_total=0
failed_total=0
skipped_total=0
may_skip=${may_skip-.*}
_failures=() # stages, with their failed tests
_is_beside=  # in this shell
_foreground= # the process groups that there are
_besides=
declare -A _ended # by what is beside: where it says which of its stages have ended

stage() { _perform _report "$@"; }
tests() { _perform _report_tests "$@"; }

_perform() {  # REPORT NAME WHAT COMMAND…
  local report=$1 name=$2 what=$3 started=$SECONDS outcome
  shift 3
  if [ -n "$_is_beside" ]; then
    "$@" > "build/logs/$name.log" 2>&1 && outcome=0 || outcome=$?
    echo "$name $report $outcome $((SECONDS - started)) $what"
    return "$outcome"
  fi
  _begin_line "$name" "$what"
  _begin "$@" > "build/logs/$name.log" 2>&1
  _foreground=$!
  wait "$_foreground" && outcome=0 || outcome=$?
  _foreground=
  $report "$name" "$outcome" $((SECONDS - started))
}

# Each command is a process group of its own, so that it can be ended with all that it has started.
_begin() {
  set -m
  "$@" < /dev/null &
  set +m
}

_begin_line() { printf '%-12s %-48s ' "$1" "$2"; }

beside() {
  local results=build/logs/.beside ended
  rm -f $results
  mkfifo $results
  _begin _do_beside $results "$1"
  _besides+=" $!"
  exec {ended}< $results
  _ended[$1]=$ended
  rm $results
}

_do_beside() {  # RESULTS COMMAND
  _is_beside=1
  "$2" > "$1"
}

lowest() {
  (renice -n 19 "$BASHPID" > /dev/null; "$@")
}

await() {
  local name report outcome seconds what
  while read -r -u "${_ended[$1]}" name report outcome seconds what; do
    _begin_line "$name" "$what"
    $report "$name" "$outcome" "$seconds"
    outcome=$?
    [ "$name" != "$2" ] || return "$outcome"
  done
  _begin_line "$2" "was not run"
  : > "build/logs/$2.log"
  _report "$2" 1 0
}

_report() {  # NAME OUTCOME SECONDS
  local log=build/logs/$1.log
  if [ "$2" = 0 ]; then
    printf 'ok      %4d s\n' "$3"
  else
    printf 'FAILED  %4d s   %s\n' "$3" "$log"
    failed_total=$((failed_total + 1))
    _failures+=("$1")
    _show_failure "$log"
  fi
  return "$2"
}

_report_tests() {  # NAME OUTCOME SECONDS
  local log=build/logs/$1.log outcome=$2 passed failed skipped undue more_passed more_failed
  passed=$(_count "$log" '^ *[0-9]+/[0-9]+ +Test +#[0-9]+: .* Passed |^ *--- PASS: ')
  failed=$(_count "$log" '^ *[0-9]+/[0-9]+ +Test +#[0-9]+: .*\*\*\*(Failed|Exception|Timeout|Not Run)|^ *--- FAIL: ')
  read -r more_passed more_failed < <(_count_cases "$log")
  passed=$((passed + more_passed)) failed=$((failed + more_failed))
  [ "$failed" = 0 ] || _failures+=("$1: $(_failed_tests 12 "$log")")
  # A command that failed without a failed test, or that ran none, is a failure of its own.
  if [ "$outcome" = 0 ] && [ "$passed" = 0 ]; then outcome=1; fi
  if [ "$outcome" != 0 ] && [ "$failed" = 0 ]; then failed=1; _failures+=("$1"); fi
  skipped=$(_count "$log" "$_skip_line")
  undue=$(_skipped "$log" | grep -vxE "$may_skip" | paste -sd ' ')
  [ -z "$undue" ] || _failures+=("$1: skipped: $undue")
  passed_total=$((passed_total + passed))
  failed_total=$((failed_total + failed + $(wc -w <<< "$undue")))
  skipped_total=$((skipped_total + skipped))
  printf '%s  %4d s   %d passed, %d failed%s\n' "$([ "$failed$undue" = 0 ] && echo 'ok    ' || echo 'FAILED')" \
    "$3" "$passed" "$failed" "$(_and_skipped "$skipped")"
  [ -z "$undue" ] || echo "---- must not be skipped: $undue"
  [ "$failed" = 0 ] || _show_failure "$log"
  [ -z "$undue" ] || return 1
  return "$outcome"
}

# Counts in a log: lines that `go test -v` or ctest print for each test.
_count() {
  grep -cE "$2" "$1" || true
}

# A test of Go or of ctest that is skipped, or a case of a program that has no data.
_skip_line='^ *--- SKIP: |^ *[0-9]+/[0-9]+ +Test +#[0-9]+: .*\*\*\*Skipped|^no data: '
# The names of the first two, a blank in them as "_". The data of the third are no part of the repository.
_skipped() {
  sed -nE -e 's/^ *--- SKIP: ([^ ]+).*/\1/p' -e '/\*\*\*Skipped/s/^ *[0-9]+\/[0-9]+ +Test +#[0-9]+: (.*[^ .]) *\.*\*\*\*Skipped.*/\1/p' "$1" | tr ' ' _
}
_and_skipped() { [ "$1" = 0 ] || printf ', %d skipped' "$1"; }

# Passed and failed cases of programs, as Catch2 counts them, beyond the one test that ctest counts each program as.
_count_cases() {
  awk '/^program of cases: All tests passed/ { passed += $(NF - 2) - 1 }
    /^program of cases: test cases:/ {
      for (i = 1; i < NF; ++i) if ($(i + 1) == "passed") passed += $i; else if ($(i + 1) == "failed") failed += $i
      failed -= 1
    }
    END { print passed + 0, failed + 0 }' "$1"
}

_failed_tests() { awk -v most="$1" -f .ci/failed_tests.awk "$2"; }

_show_failure() {
  local failed
  failed=$(_failed_tests 40 "$1")
  if [ -n "$failed" ]; then
    printf -- '---- what failed in %s:\n%s\n----\n' "$1" "$failed"
  else
    # Of a build the compiler's errors, which may stand far from the end; its lines may be very long.
    printf -- '---- the end of %s:\n%s\n----\n' "$1" \
      "$( { grep -m 10 -E '(^|[ :])(fatal )?error: |undefined reference' "$1"; tail -n 40 "$1"; } | cut -c 1-300)"
  fi
}

_end() {
  local group
  for group in $_foreground $_besides; do kill -- "-$group" 2> /dev/null; done
}
trap _end EXIT
trap 'exit 130' INT TERM

finish() {
  [ "$failed_total" = 0 ] || printf 'FAILED  %s\n' "${_failures[@]}"
  echo "$passed_total passed, $failed_total failed$(_and_skipped "$skipped_total")"
  [ "$failed_total" = 0 ] && exit 0
  exit 1
}
