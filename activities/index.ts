import { type ReplayFilter, replayPage, requestAttempt } from '../src/deliveries/resends.ts'
import { reviewEndpoint } from '../src/endpoints/endpoint-review.ts'
import type { Webhook } from '../workflows/messages.ts'
import { advanceClockActivity } from './advance-clock.ts'
import { certificationActivities } from './certify-endpoint.ts'
import { compareWithRecordActivity } from './compare-with-record.ts'
import { deliverWebhookActivity, probeEndpointActivity, resendWebhookActivity } from './deliver-webhook.ts'
import { leadActivities } from './lead-record.ts'
import { notifyActivity } from './notify.ts'
import { recordMilestonesActivity } from './record-milestones.ts'
import { removeOldActivity } from './remove-old.ts'
import { recordScoreUpdateActivity } from './record-score-update.ts'
import { wakeLeadsActivity } from './wake-leads.ts'
import { welcomeActivities } from './welcome.ts'

/** Webhooks of a replay that are listed at a time. */
const PAGE = 100

type Needs<Make extends (dependencies: never) => unknown> = Parameters<Make>[0]

/** What the activities need: each says it itself. */
type ActivityDependencies = Needs<typeof recordMilestonesActivity> &
  Needs<typeof recordScoreUpdateActivity> &
  Needs<typeof probeEndpointActivity> &
  Needs<typeof welcomeActivities> &
  Needs<typeof advanceClockActivity> &
  Needs<typeof leadActivities> &
  Needs<typeof certificationActivities> &
  Needs<typeof wakeLeadsActivity> &
  Needs<typeof notifyActivity> &
  Needs<typeof compareWithRecordActivity> &
  Needs<typeof removeOldActivity>

/** The activities over what they need: nothing here reads the environment or opens a connection. */
export function createActivities(dependencies: ActivityDependencies) {
  const { sql } = dependencies
  return {
    deliverWebhook: deliverWebhookActivity(dependencies),
    probeEndpoint: probeEndpointActivity(dependencies),
    resendWebhook: resendWebhookActivity(dependencies),
    recordScoreUpdate: recordScoreUpdateActivity(dependencies),
    recordMilestones: recordMilestonesActivity(dependencies),
    ...welcomeActivities(dependencies),
    ...leadActivities(dependencies),
    advanceClock: advanceClockActivity(dependencies),
    requestAttempt: async (leadId: number, sequence: number) => requestAttempt(sql, leadId, sequence),
    listReplay: async (filter: ReplayFilter, after: Webhook) => replayPage(sql, filter, after, PAGE),

    ...certificationActivities(dependencies),
    notify: notifyActivity(dependencies),
    wakeLeads: wakeLeadsActivity(dependencies),
    reviewEndpoint: async (partnerId: number) => reviewEndpoint(sql, partnerId),

    compareWithRecord: compareWithRecordActivity(dependencies),
    removeOld: removeOldActivity(dependencies),
  }
}
