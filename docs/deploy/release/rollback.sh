#!/bin/sh
# Takes a rollout back, at any point of it: all workflows go to the old build, whose workers must still run.
#
#   OLD=2026-11-21.1 NEW=2026-11-23.1 STOP=./stop-workers sh docs/deploy/release/rollback.sh
#
# OLD may be `unversioned`. Without STOP, the workers of the new build keep running, without work.
set -eu
: "${OLD:?is the build to go back to, or unversioned}" "${NEW:?is the build to take back}"
deployment=${TEMPORAL_DEPLOYMENT_NAME:-referrals}

# Temporal takes any build that it has ever seen, and would then send everything to workers that are gone. Each polls at
# least once a minute.
polls() {
  temporal task-queue describe --legacy-mode --partitions-legacy 4 --task-queue referrals --output json |
    jq --exit-status --arg build "$1" '
      any(.pollers[];
        (.deployment_options.build_id // .deploymentOptions.buildId) == $build and
        ((.last_access_time // .lastAccessTime)
          | if type == "object" then .seconds else sub("\\.[0-9]+Z$"; "Z") | fromdateiso8601 end) > now - 75)' >/dev/null
}

case $OLD in
  unversioned) set -- --unversioned ;;
  *)
    polls "$OLD" || {
      echo "no worker of build $OLD polls: start them, or correct OLD. Nothing was changed." >&2
      exit 1
    }
    set -- --build-id "$OLD"
    ;;
esac
failed=
# a task queue that only the new build has is no reason to keep it: what waits there waits for a newer one
temporal worker deployment set-current-version --yes --deployment-name "$deployment" --ignore-missing-task-queues "$@" ||
  failed=1
# it would continue to send its share to the new build
temporal worker deployment set-ramping-version --yes --deployment-name "$deployment" --build-id "$NEW" --delete || failed=1
[ -z "$failed" ] || exit 1
[ -z "${STOP:-}" ] || $STOP "$NEW"
echo "$OLD is current again. Repair the workflows on which $NEW has worked: npm run staff -- workflow repair --build $NEW --yes"
