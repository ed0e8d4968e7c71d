#!/bin/sh
# Rolls out the workers of a new build by Worker Versioning, and takes it back if anything speaks against it:
# docs/operations/releases.md. Nobody has to watch. It runs in the folder of the new build's code (npm ci), with the
# settings of a staff command, and with temporal and jq on the PATH.
#
#   OLD=2026-11-21.1 NEW=2026-11-23.1 START=./start-workers STOP=./stop-workers sh docs/deploy/release/release.sh
#
#   OLD    the build that is current, or `unversioned`
#   NEW    the new one: TEMPORAL_WORKER_BUILD_ID of its workers
#   START  a command of yours that starts the workers of a build beside the others; its last argument is the build
#   STOP   one that stops them, in the same way
#
# With arguments, it takes only these steps: gate, start, ramp, current, finish. It can be repeated: once NEW is current, it goes
# on with finish.
set -eu
: "${OLD:?is the build that is current, or unversioned}" "${NEW:?is the new build}"
: "${START:?starts the workers of a build}" "${STOP:?stops the workers of a build}"
deployment=${TEMPORAL_DEPLOYMENT_NAME:-referrals}
workers=${WORKERS:-1}     # how many workers START starts
percent=${RAMP:-5}        # of the leads, at first
seconds=${WATCH:-600}     # that the build is watched, while it ramps and once it is current
least=${AT_LEAST:-1}      # workflows on which the build must have worked meanwhile
patience=${PATIENCE:-900} # seconds until workers have started, or the old build is drained
here=$(cd "$(dirname "$0")" && pwd)

# The new build must replay what production has. Exit code 1 if it does not: nothing has changed then.
gate() {
  histories=$(mktemp -d)
  echo "histories are in $histories until they have been replayed"
  npm run --silent sample -- "$histories"
  npm run --silent replay -- "$histories"
  rm -r "$histories"
}

# They poll, and get no work yet: their /readyz says 503 until they ramp.
start() {
  $START "$NEW"
  wait_for "$workers workers of build $NEW poll" polls
}

ramp() {
  temporal worker deployment set-ramping-version --yes --deployment-name "$deployment" --build-id "$NEW" \
    --percentage "$percent"
  watch
}

current() {
  temporal worker deployment set-current-version --yes --deployment-name "$deployment" --build-id "$NEW"
  watch
}

finish() {
  [ "$OLD" = unversioned ] || wait_for "build $OLD is drained" is_drained
  $STOP "$OLD"
}

# In the background, so that a signal is heard at once.
watch() {
  npm run --silent staff -- workflow watch "$NEW" --seconds "$seconds" --at-least "$least" \
    ${PROMETHEUS:+--prometheus "$PROMETHEUS"} &
  watching=$!
  wait "$watching"
  watching=
}

polls() {
  version "$NEW" | jq --exit-status '[.taskQueuesInfos[].name] | contains(["referrals", "deliveries", "scores", "waiting"])' || return
  temporal task-queue describe --legacy-mode --partitions-legacy 4 --task-queue referrals --output json |
    jq --exit-status --arg build "$NEW" --argjson workers "$workers" '
      [.pollers[] | select((.deployment_options.build_id // .deploymentOptions.buildId) == $build) | .identity]
      | unique | length >= $workers'
}

is_drained() {
  version "$OLD" | jq --exit-status '.drainageInfo.drainageStatus == "drained"'
}

version() {
  temporal worker deployment describe-version --deployment-name "$deployment" --build-id "$1" --output json
}

# wait_for WHAT COMMAND: until the command succeeds.
wait_for() {
  end=$(($(date +%s) + patience))
  echo "waiting until $1"
  until $2 >/dev/null 2>&1; do
    [ "$(date +%s)" -lt "$end" ] || { echo "not so after $patience s: $1" >&2; exit 1; }
    sleep 1
  done
}

# The build that is current, or unversioned; a deployment that does not exist yet has none.
current_build() {
  temporal worker deployment describe --name "$deployment" --output json 2>/dev/null |
    jq --raw-output '.routingConfig.currentVersionBuildID // "" | if . == "" then "unversioned" else . end' 2>/dev/null ||
    true
}

# Whether a step is still to be taken. Another current build than expected ends it, and changes nothing: another rollout may
# be under way, and OLD may be of an earlier one.
is_due() {
  now=$(current_build)
  now=${now:-unversioned}
  if [ "$now" = "$NEW" ]; then
    [ "$1" = finish ] && return 0
    echo "build $NEW is current already: nothing to $1"
    return 1
  fi
  if [ "$1" = finish ] || [ "$now" != "$OLD" ]; then
    echo "OLD is $OLD and NEW is $NEW, but Temporal has $now as the current build: step $1 is not taken" >&2
    step=none
    exit 1
  fi
}

# A build that ramps or is current is taken back; one that has only started is stopped. Nothing may keep it from that: not a
# second Ctrl-C, nor a terminal that is gone.
undo() {
  code=$?
  trap - EXIT
  set +e
  trap '' HUP INT TERM PIPE
  [ -z "${watching:-}" ] || kill "$watching" 2>/dev/null
  [ "$code" -eq 0 ] && exit 0
  echo "step $step failed: build $NEW is not released" >&2
  case $step in
    start) $STOP "$NEW" ;;
    ramp | current) sh "$here/rollback.sh" ;;
  esac
  exit "$code"
}
trap undo EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 141' PIPE
trap 'exit 143' TERM

for step in ${*:-gate start ramp current finish}; do
  is_due "$step" || continue
  echo "== $step"
  "$step"
done
echo "build $NEW is released"
