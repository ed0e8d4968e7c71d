import type { Client } from '@temporalio/client'
import type { Logger } from 'pino'
import type { Registry } from 'prom-client'
import { createAttempts } from '../activities/attempts.ts'
import type { TellFailure } from '../activities/deliver-webhook.ts'
import { createActivities, createDeliveryActivities, createScoreActivities } from '../activities/index.ts'
import { fewAtATime, type Mailer } from '../activities/mailer.ts'
import { createOnboardingMails } from '../activities/onboarding-mails.ts'
import { countedProvider, httpScoreProvider, mockScoreProvider } from '../activities/score-providers.ts'
import { deliveryFailedSignal, wakeSignal } from '../workflows/messages.ts'
import { removalsOf } from './capabilities/retention/statements/runs.ts'
import { scenarioOfLead } from './capabilities/sandbox/statements/scenario-of-lead.ts'
import type { Config } from './config.ts'
import type { Sql } from './core/database/sql.ts'
import type { WebhookFacts } from './core/deliveries/decisions/webhook-facts.ts'
import { webhookBody } from './core/deliveries/webhooks/body.ts'
import type { Sender } from './core/deliveries/webhooks/send.ts'
import type { StartEndpoint } from './core/endpoints/workflows/endpoints.ts'
import { closeRequestedBy } from './core/leads/workflows/close-request.ts'
import { compareLeads } from './core/leads/workflows/reconcile.ts'
import type { Referrals } from './core/leads/workflows/referrals.ts'
import { referralId } from './core/temporal/names.ts'
import type { WorkerObserver } from './metrics/worker.ts'
import { retained } from './retained.ts'

interface Options {
  config: Config<'worker'>
  log: Logger
  sql: Sql
  client: Client
  referrals: Referrals
  startEndpoint: StartEndpoint
  sender: Sender
  mailer: Mailer
  observe: WorkerObserver
  registry: Registry
}

/**
 * A worker's activities with all that they need.
 *
 * @returns `settled`, which resolves once nothing is under way that an activity began and did not wait for.
 */
export function workerActivities(options: Options) {
  const { config, log, sql, client, referrals, startEndpoint, mailer, observe } = options
  const { ENVIRONMENT: environment } = config
  const attempting = {
    sql,
    send: options.sender.send,
    startEndpoint,
    encryptionKeys: config.ENCRYPTION_KEY,
    observe,
    log,
  }
  const attempts = createAttempts(attempting)
  const letterhead = { replyTo: config.MAIL_REPLY_TO, footer: config.MAIL_FOOTER }
  const mostAtATime = Math.max(2, Math.floor(config.WORKER_ACTIVITIES / 10))
  const onboardingMails = createOnboardingMails({
    ...attempting,
    mailer,
    letterhead,
    mostAtATime,
  })
  const scoreProvider = countedProvider(scoreProviderOf(config), observe)
  const dependencies = {
    ...attempting,
    environment,
    attempts,
    compareLeads: compareLeads({ client, sql, referrals }),
    removals: removalsOf({ sql, config }, retained),
    closeRequestedBy: (leadId: number) => closeRequestedBy(client, leadId),
    wakeLead: (leadId: number) => referrals.signal(leadId, wakeSignal),
    tellFailure: failureTeller(client, log),
    staffEmail: config.STAFF_EMAIL,
    webhookBody: (facts: WebhookFacts) => webhookBody({ ...facts, environment }),
    scoreProvider,
    // those to borrowers have places of their own
    mailer: fewAtATime(mailer, mostAtATime),
    onboardingMails,
    // by room
    ...(environment === 'sandbox' && {
      scenarioOf: (leadId: number) => scenarioOfLead(sql, leadId, config.ENCRYPTION_KEY),
    }),
  }
  return {
    activities: createActivities(dependencies),
    deliveryActivities: createDeliveryActivities(dependencies),
    scoreActivities: createScoreActivities(dependencies),
    settled: () => Promise.all([attempts.settled(), onboardingMails.settled()]),
  }
}

function scoreProviderOf({ SCORE_PROVIDER_URL: url, SCORE_PROVIDER_TOKEN: token }: Config<'worker'>) {
  return url === undefined ? mockScoreProvider : httpScoreProvider(url, token)
}

function failureTeller(client: Client, log: Logger): TellFailure {
  return (leadId, failure) => {
    const telling = client.workflow.getHandle(referralId(leadId)).signal(deliveryFailedSignal, failure)
    telling.catch((error: unknown) =>
      log.debug({ err: error, lead_id: leadId, workflow_id: referralId(leadId) }, 'lead was not told'),
    )
  }
}
