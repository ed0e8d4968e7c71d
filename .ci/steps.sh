# What .ci/run and .ci/nightly share: the steps, their count, and the last line of the output.
cd "$(dirname "${BASH_SOURCE[0]}")/.."
exec 3>&1 # finish prints the last line even from within a redirected step
[ -t 1 ] || export NO_COLOR=1

results=$(mktemp -d)
passed=0
failed=0

finish() {
  local code=$?
  rm -rf "$results"
  # An early exit (killed, a bug in this script) counts as a failure.
  if [ "$code" -ne 0 ] && [ "$failed" -eq 0 ]; then failed=1; fi
  echo "$passed passed, $failed failed" >&3
  [ "$failed" -eq 0 ] || exit 1
}
trap finish EXIT
trap 'exit 130' INT TERM

# scripts PREFIX: the npm scripts whose names begin with it.
scripts() { node -p 'Object.keys(require("./package.json").scripts).filter((name) => name.startsWith(process.argv[1])).join(" ")' "$1"; }

has_browser() {
  for name in chromium chromium-browser google-chrome microsoft-edge; do command -v "$name" >/dev/null && return; done
  [ "$(uname)" = Darwin ] # there it is an application, which the tests look for
}

# within SECONDS COMMAND…: ends a command that hangs, for example on a connection left open.
within() {
  local seconds=$1
  shift
  if command -v timeout >/dev/null; then timeout --kill-after=20 "$seconds" "$@"; else "$@"; fi
}

# step NAME COMMAND…: counts as one test; prints the output only on failure. Has ten minutes, or $limit seconds.
step() {
  local name=$1 started=$SECONDS
  shift
  within "${limit:-600}" "$@" >"$results/output" 2>&1
  report "$name" $? "$results/output" $((SECONDS - started))
}

# apt_install PACKAGE: a step that installs it, if this is root on a system with apt-get.
apt_install() {
  [ "$(id -u)" -eq 0 ] && command -v apt-get >/dev/null || return 0
  # a command, because timeout runs no functions
  step "install $1" bash -c "apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install --yes --no-install-recommends $1"
}

# at_once NAME…: a step for each of these npm scripts, all at the same time: they use one processor each.
at_once() {
  local name pids=()
  for name in "$@"; do
    (
      started=$SECONDS
      within 600 npm run --silent "$name" >"$results/$name" 2>&1
      echo "$? $((SECONDS - started))" >"$results/$name.end"
    ) &
    pids+=($!)
  done
  wait "${pids[@]}"
  for name in "$@"; do
    read -r code seconds <"$results/$name.end"
    report "$name" "$code" "$results/$name" "$seconds"
  done
}

# report NAME CODE OUTPUT SECONDS: counts and prints the result of a step.
report() {
  if [ "$2" -eq 0 ]; then
    passed=$((passed + 1))
    echo "ok   $1 ($4 s)"
  else
    failed=$((failed + 1))
    echo "FAIL $1 ($4 s$([ "$2" -ne 124 ] || echo ", it did not end by itself"))"
    sed -e $'s/\e\\[[0-9;]*m//g' -e 's/^/     /' "$3"
    return 1
  fi
}

# tests SCRIPT [-- FILE…]: runs jest by an npm script and counts each test; a run that ends without a count is one failure.
tests() {
  local script=$1 started=$SECONDS report="$results/report.json" code counts
  shift
  [ $# -eq 0 ] || shift
  rm -f "$report"
  echo "---- npm run $script"
  within 1800 npm run --silent "$script" -- --ci --json --outputFile="$report" "$@" 2>&1 >/dev/null
  code=$?
  if [ -s "$report" ]; then
    counts=$(node .ci/count-tests.cjs "$report" "$code") || counts="0 1"
  else
    echo "$script ended with exit code $code before any test was counted"
    counts="0 1"
  fi
  passed=$((passed + ${counts% *}))
  failed=$((failed + ${counts#* }))
  echo "---- npm run $script: ${counts% *} passed, ${counts#* } failed ($((SECONDS - started)) s)"
}

# python_venv FOLDER REQUIREMENTS: makes a venv with them, or prints why it cannot.
python_venv() {
  local venv=$1 requirements=$2
  command -v python3 >/dev/null || { echo "there is no python3"; return 1; }
  python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "python3 is older than 3.11"; return 1; }
  within 60 python3 -m venv "$venv" >/dev/null 2>&1 || { echo "python3 has no venv"; return 1; }
  within 180 "$venv/bin/python" -m pip install --quiet --retries 1 --timeout 20 \
    --requirement "$requirements" >/dev/null 2>&1 ||
    { echo "pip cannot install $requirements"; return 1; }
}
