import type { Logger } from 'pino'
import type { DeliveryGate } from '../src/core/deliveries/statements/gate.ts'
import {
  type ReplayCursor,
  type ReplayFilter,
  replayPage,
} from '../src/core/deliveries/statements/replays.ts'
import { requestAttempt } from '../src/core/deliveries/statements/resend.ts'
import { resendPage } from '../src/core/deliveries/statements/resend-marks.ts'
import { finishDraining } from '../src/core/endpoints/statements/draining.ts'
import { reviewEndpoint, setNextProbe } from '../src/core/endpoints/statements/review.ts'
import type { WebhookBody } from '../src/core/leads/statements/new-lead.ts'
import type { Sql } from '../src/core/database/orm.ts'
import type { Environment } from '../src/core/values/environment.ts'
import type { WorkerObserver } from '../src/metrics/worker.ts'
import { clockActivities } from './sandbox/advance-clock.ts'
import { again } from './again.ts'
import { certificationActivities } from './self-service/certify.ts'
import { closeLeadActivity, type ClosingDependencies } from './close-lead.ts'
import { deliverWebhookActivity, type TellFailure } from './deliver-webhook.ts'
import { type ErasureDependencies, erasureActivities } from './erasure/erasures.ts'
import { endpointChangeActivities } from './self-service/endpoint-changes.ts'
import type { FirstAttempts } from './first-attempts.ts'
import type { SendWebhook } from './make-attempt.ts'
import type { Mailer } from './mailer.ts'
import { notifyActivity } from './notify.ts'
import type { OnboardingMails } from './onboarding-mails.ts'
import { pingEndpointActivity } from './self-service/ping-endpoint.ts'
import { probeEndpointActivity } from './probe-endpoint.ts'
import { recordMilestonesActivity } from './record-milestones.ts'
import { type RestoreDependencies, restoreActivities } from './restore/restore.ts'
import { recordScoreUpdateActivity, type ScoreProvider } from './record-score-update.ts'
import { replayWebhookActivity, resendWebhookActivity } from './send-once-more.ts'
import { scenarioActivities, type ScenarioDependencies } from './sandbox/scenario.ts'
import { type TakeOverDependencies, takeOverRecordActivity } from './take-over-record.ts'
import { type WakeLead, wakeLeadsActivity } from './wake-leads.ts'
import { welcomeActivities } from './welcome.ts'

/** Webhooks of a resend or replay that are listed at a time. */
const PAGE = 100

export interface ActivityDependencies {
  sql: Sql
  environment: Environment
  gate: DeliveryGate
  firstAttempts: FirstAttempts
  webhookBody: WebhookBody
  send: SendWebhook
  encryptionKeys: readonly Buffer[]
  scoreProvider: ScoreProvider
  mailer: Mailer
  onboardingMails: OnboardingMails
  /** Who is told about failing endpoints, beside the partner. */
  staffEmail: string | undefined
  wakeLead: WakeLead
  recordedBefore: TakeOverDependencies['recordedBefore']
  leadsActiveSince: RestoreDependencies['leadsActiveSince']
  /** Has a lead's workflow continue with what the record has. False when there is neither. */
  takeOver: (leadId: number) => Promise<boolean>
  /** What rooms do once the record was restored, before any workflow continues with it. */
  onceRestored: readonly ((onPage: () => void) => Promise<void>)[]
  /** Tells a lead's workflow how far its clock is ahead; one that does not run is started. */
  tellClock: (leadId: number, offsetMs: number) => Promise<unknown>
  /** The erasure journal, and for how long backups are kept. */
  erasure: ErasureDependencies['erasure']
  endWorkflows: ErasureDependencies['endWorkflows']
  play: ScenarioDependencies['play']
  close: ScenarioDependencies['close']
  closeRequestedBy: ClosingDependencies['closeRequestedBy']
  /** Starts an endpoint's workflow, or tells it to look at the record. */
  startEndpoint: (endpointId: number) => Promise<unknown>
  tellFailure: TellFailure
  log: Logger
  observe: WorkerObserver
}

/** Those that wait for other activities, and have a task queue of their own. */
export function createWaitingActivities(dependencies: ActivityDependencies) {
  return {
    ...clockActivities(dependencies),
    ...restoreActivities(dependencies),
  }
}

/** The activities over what they need: nothing here reads the environment or opens a connection. */
export function createActivities(dependencies: ActivityDependencies) {
  const { sql } = dependencies
  return {
    recordMilestones: recordMilestonesActivity(dependencies),
    recordScoreUpdate: recordScoreUpdateActivity(dependencies),
    deliverWebhook: deliverWebhookActivity(dependencies),
    ...welcomeActivities(dependencies),
    ...clockActivities(dependencies),
    ...scenarioActivities(dependencies),
    requestAttempt: async (leadId: number, sequence: number) =>
      void (await requestAttempt(sql, { leadId, sequence })),
    closeLead: closeLeadActivity(dependencies),

    takeOverRecord: takeOverRecordActivity(dependencies),
    ...restoreActivities(dependencies),

    ...certificationActivities(dependencies),
    ...endpointChangeActivities(dependencies),
    pingEndpoint: pingEndpointActivity(dependencies),

    ...erasureActivities(dependencies),

    wakeLeads: wakeLeadsActivity(dependencies),
    probeEndpoint: probeEndpointActivity(dependencies),
    notify: notifyActivity(dependencies),
    /** `null` if the endpoint has no URL. */
    reviewEndpoint: async (endpointId: number) => (await reviewEndpoint(sql, endpointId)) ?? null,
    setNextProbe: async (endpointId: number, since: string, atMs: number) =>
      setNextProbe(sql, endpointId, since, new Date(atMs)),
    async finishDraining(endpointId: number, since: string) {
      if (!(await finishDraining(sql, endpointId, since))) throw again('webhooks from before are still due')
    },

    listReplay: async (filter: ReplayFilter, after: ReplayCursor) => replayPage(sql, filter, after, PAGE),
    replayWebhook: replayWebhookActivity(dependencies),
    listResends: async (partnerId: number) => resendPage(sql, partnerId, PAGE),
    resendWebhook: resendWebhookActivity(dependencies),
  }
}
