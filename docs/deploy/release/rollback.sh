#!/bin/sh
# Takes a rollout back, at any point of it: all workflows go to the old build, whose workers must still run.
#
#   OLD=2026-11-21.1 NEW=2026-11-23.1 STOP=./stop-workers sh docs/deploy/release/rollback.sh
#
# OLD may be `unversioned`. Without STOP, the workers of the new build keep running, without work.
set -eu
: "${OLD:?is the build to go back to, or unversioned}" "${NEW:?is the build to take back}"
deployment=${TEMPORAL_DEPLOYMENT_NAME:-referrals}
case $OLD in
  unversioned) set -- --unversioned ;;
  *) set -- --build-id "$OLD" ;;
esac
# a task queue that only the new build has is no reason to keep it: what waits there waits for a newer one
temporal worker deployment set-current-version --yes --deployment-name "$deployment" --ignore-missing-task-queues "$@"
# it would continue to send its share to the new build
temporal worker deployment set-ramping-version --yes --deployment-name "$deployment" --build-id "$NEW" --delete
[ -z "${STOP:-}" ] || $STOP "$NEW"
echo "$OLD is current again. Repair the workflows on which $NEW has worked: npm run staff -- workflow repair --build $NEW --yes"
