import type { Client } from '@temporalio/client'
import { ApplicationFailure, defaultPayloadConverter } from '@temporalio/common'
import type { ActivityInterceptorsFactory } from '@temporalio/worker'
import { sql as raw } from 'kysely'
import type { Logger } from 'pino'
import { otherLead } from '../activities/activity-context.ts'
import { createAttempts } from '../activities/attempts.ts'
import type { TellFailure } from '../activities/deliver-webhook.ts'
import { createActivities } from '../activities/index.ts'
import { createMailer, fewAtATime, type Mail } from '../activities/mailer.ts'
import { httpScoreProvider, mockScoreProvider } from '../activities/record-score-update.ts'
import { createOnboardingMails } from '../activities/welcome.ts'
import { deliveryFailedSignal, wakeSignal } from '../workflows/messages.ts'
import type { Config } from './config.ts'
import type { Sql } from './database/sql.ts'
import { createEndpointStarter } from './endpoints/endpoint-workflows.ts'
import { compareLeads } from './leads/comparison.ts'
import { FIRST_EVENT, UNREAD } from './leads/referral-state.ts'
import type { Referrals } from './leads/referrals.ts'
import type { WorkerObserver } from './observe/worker-metrics.ts'
import { type Removal, removeOld, type RetainedName } from './privacy/retention.ts'
import { scenarioOfLead } from './sandbox/lead-time.ts'
import { leadOf, referralId } from './temporal/names.ts'
import { ACTIVITIES } from './temporal/worker-options.ts'
import { webhookBody, type WebhookFacts } from './webhooks/body.ts'
import { createSender } from './webhooks/send.ts'

interface Options {
  config: Config<'worker'>
  log: Logger
  sql: Sql
  client: Client
  deploymentId: string
  referrals: Referrals
  observe: WorkerObserver
}

/**
 * A worker's activities with all that they need.
 *
 * @returns `close`, which resolves once nothing is under way that an activity began and did not wait for.
 */
export function workerActivities({ config, log, sql, client, deploymentId, referrals, observe }: Options) {
  const { ENVIRONMENT: environment, ENCRYPTION_KEY: encryptionKeys, SCORE_PROVIDER_URL: scoresUrl } = config
  const allowPrivateNetwork = config.WEBHOOK_ALLOW_PRIVATE_NETWORK
  const sender = createSender({ environment, allowPrivateNetwork })
  const startEndpoint = createEndpointStarter(client)
  const attempting = { sql, send: sender.send, startEndpoint, encryptionKeys, observe, log }
  const attempts = createAttempts(attempting)
  const mailSettings = {
    environment,
    deployment: deploymentId,
    smtpUrl: config.SMTP_URL,
    isCatcher: config.SMTP_CATCHER,
    from: config.MAIL_FROM,
    allowDomains: config.MAIL_ALLOW_DOMAINS,
  }
  const mailer = createMailer(mailSettings, { observe, log })
  const mostAtATime = ACTIVITIES / 10
  const letterhead = { replyTo: config.MAIL_REPLY_TO, footer: config.MAIL_FOOTER }
  const onboardingMails = createOnboardingMails({ ...attempting, mailer, letterhead, mostAtATime })
  const scoreProvider =
    scoresUrl === undefined ? mockScoreProvider : httpScoreProvider(scoresUrl, config.SCORE_PROVIDER_TOKEN)
  // those to borrowers have places of their own
  const inPlace = fewAtATime(mostAtATime)
  const dependencies = {
    ...attempting,
    environment,
    attempts,
    compareLeads: (which: Parameters<typeof compareLeads>[1]) =>
      compareLeads({ client, sql, referrals }, which),
    removeOld: (name: RetainedName, run: Pick<Removal, 'signal'>) => removeOld({ sql, config, ...run }, name),
    wakeLead: (leadId: number) => referrals.signal(leadId, wakeSignal),
    tellFailure: failureTeller(client, log),
    staffEmail: config.STAFF_EMAIL,
    webhookBody: (facts: WebhookFacts) => webhookBody({ ...facts, environment }),
    scoreProvider,
    mailer: { ...mailer, send: (mail: Mail) => inPlace(() => mailer.send(mail)) },
    onboardingMails,
    ...(environment === 'sandbox' && {
      scenarioOf: (leadId: number) => scenarioOfLead(sql, leadId, encryptionKeys),
    }),
  }
  const activities = createActivities(dependencies)
  const { deliverWebhook, probeEndpoint, resendWebhook, recordScoreUpdate } = activities
  return {
    activities,
    // these have task queues of their own
    deliveryActivities: { deliverWebhook, probeEndpoint, resendWebhook },
    scoreActivities: { recordScoreUpdate },
    async close(): Promise<void> {
      await Promise.all([attempts.settled(), onboardingMails.settled()])
      await sender.close()
    },
  }
}

function failureTeller(client: Client, log: Logger): TellFailure {
  return (leadId, failure) => {
    const telling = client.workflow.getHandle(referralId(leadId)).signal(deliveryFailedSignal, failure)
    telling.catch((error: unknown) =>
      log.debug({ err: error, lead_id: leadId, workflow_id: referralId(leadId) }, 'lead was not told'),
    )
  }
}

/**
 * Before each activity of a lead's workflow: whether the lead that has its id is the one that it was started for, as another
 * borrower's may have it after PostgreSQL lost a lead; and whether the workflow has read the record since that was restored.
 */
export function ownLeadOnly(sql: Sql): ActivityInterceptorsFactory {
  return ({ info: { activityType, workflowExecution } }) => ({
    inbound: {
      async execute(input, next) {
        const { [FIRST_EVENT]: header } = input.headers
        const leadId = leadOf(workflowExecution?.workflowId ?? '')
        if (header !== undefined && leadId !== undefined) {
          const lead = await findLead(sql, leadId, defaultPayloadConverter.fromPayload(header))
          if (lead === undefined) throw otherLead()
          if (lead.isUnread && activityType !== 'readRecord')
            throw ApplicationFailure.nonRetryable('the record was restored, and is to be read first', UNREAD)
        }
        return next(input)
      },
    },
  })
}

async function findLead(sql: Sql, leadId: number, firstEventId: string) {
  return sql
    .selectFrom('lead_events')
    .innerJoin('leads', 'leads.id', 'lead_events.lead_id')
    .select(raw<boolean>`restored_at is not null`.as('isUnread'))
    .where('lead_events.id', '=', firstEventId)
    .where('leads.id', '=', leadId)
    .executeTakeFirst()
}
