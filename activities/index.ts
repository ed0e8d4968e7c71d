import type { Logger } from 'pino'
import type { WebhookBody } from '../src/db/leads/new-lead.ts'
import type { Sql } from '../src/db/orm.ts'
import type { PartnerGate } from '../src/db/endpoints/partner-gate.ts'
import type { WorkerObserver } from '../src/metrics/worker.ts'
import { closeLeadActivity } from './close-lead.ts'
import { deliverWebhookActivity, type SendWebhook, type TellFailure } from './deliver-webhook.ts'
import { finishDrainingActivity } from './finish-draining.ts'
import { notifyActivity } from './notify.ts'
import { probeEndpointActivity } from './probe-endpoint.ts'
import { recordMilestonesActivity } from './record-milestones.ts'
import { recordScoreUpdateActivity, type ScoreProvider } from './record-score-update.ts'
import { listReplayActivity, replayWebhookActivity } from './replay.ts'
import { listResendsActivity, resendWebhookActivity } from './resend.ts'
import { reviewEndpointActivity } from './review-endpoint.ts'
import { type Mailer, sendOnboardingEmailActivity } from './send-onboarding-email.ts'
import { type WakeLead, wakeLeadsActivity } from './wake-leads.ts'

export interface ActivityDependencies {
  sql: Sql
  gate: PartnerGate
  webhookBody: WebhookBody
  send: SendWebhook
  encryptionKeys: readonly Buffer[]
  scoreProvider: ScoreProvider
  mailer: Mailer
  /** Who of us hears about partners' endpoints. */
  staffEmail: string | undefined
  wakeLead: WakeLead
  tellFailure: TellFailure
  log: Logger
  observe: WorkerObserver
}

/** The activities over what they need: nothing here reads the environment or opens a connection. */
export function createActivities(dependencies: ActivityDependencies) {
  return {
    recordMilestones: recordMilestonesActivity(dependencies),
    recordScoreUpdate: recordScoreUpdateActivity(dependencies),
    deliverWebhook: deliverWebhookActivity(dependencies),
    sendOnboardingEmail: sendOnboardingEmailActivity(dependencies),
    closeLead: closeLeadActivity(dependencies),
    wakeLeads: wakeLeadsActivity(dependencies),
    finishDraining: finishDrainingActivity(dependencies),
    reviewEndpoint: reviewEndpointActivity(dependencies),
    probeEndpoint: probeEndpointActivity(dependencies),
    notify: notifyActivity(dependencies),
    listReplay: listReplayActivity(dependencies),
    replayWebhook: replayWebhookActivity(dependencies),
    listResends: listResendsActivity(dependencies),
    resendWebhook: resendWebhookActivity(dependencies),
  }
}
