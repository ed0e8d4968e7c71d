import type { Client } from '@temporalio/client'
import type { Logger } from 'pino'
import type { Config } from '../src/config.ts'
import type { Sql } from '../src/database/sql.ts'
import { reviewEndpoint } from '../src/endpoints/endpoint-review.ts'
import { createEndpointStarter } from '../src/endpoints/endpoint-workflows.ts'
import type { Referrals } from '../src/leads/referrals.ts'
import type { WorkerObserver } from '../src/observe/worker-metrics.ts'
import { referralId } from '../src/temporal/names.ts'
import { ACTIVITIES } from '../src/temporal/worker-options.ts'
import { webhookBody } from '../src/webhooks/body.ts'
import { createSender } from '../src/webhooks/send.ts'
import { deliveryFailedSignal } from '../workflows/messages.ts'
import { advanceClockActivity } from './advance-clock.ts'
import { type AttemptDependencies, createAttempts } from './attempts.ts'
import { certificationActivities } from './certify-endpoint.ts'
import { compareWithRecordActivity } from './compare-with-record.ts'
import { deliverWebhookActivity, probeEndpointActivity, resendWebhookActivity } from './deliver-webhook.ts'
import { leadActivities } from './lead-record.ts'
import { createMailer } from './mailer.ts'
import { notifyActivity } from './notify.ts'
import { recordMilestonesActivity } from './record-milestones.ts'
import { httpScoreProvider, mockScoreProvider, recordScoreUpdateActivity } from './record-score-update.ts'
import { removeOldActivity } from './remove-old.ts'
import { wakeLeadsActivity } from './wake-leads.ts'
import { createOnboardingMails, welcomeActivities } from './welcome.ts'

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
export function createActivities({ config, log, sql, client, deploymentId, referrals, observe }: Options) {
  const { ENVIRONMENT: environment, ENCRYPTION_KEY: encryptionKeys, SCORE_PROVIDER_URL: scoresUrl } = config
  const sender = createSender({ environment, allowPrivateNetwork: config.WEBHOOK_ALLOW_PRIVATE_NETWORK })
  const startEndpoint = createEndpointStarter(client)
  const base = { sql, environment, send: sender.send, startEndpoint, encryptionKeys, observe, log }
  const attempts = createAttempts({ ...base, tellFailure: failureTeller(client, log) })
  const mailSettings = {
    environment,
    deployment: deploymentId,
    smtpUrl: config.SMTP_URL,
    from: config.MAIL_FROM,
    allowDomains: config.MAIL_ALLOW_DOMAINS,
    mostAtATime: ACTIVITIES / 10,
  }
  const mailer = createMailer(mailSettings, { observe, log })
  const letterhead = { replyTo: config.MAIL_REPLY_TO, footer: config.MAIL_FOOTER }
  const onboardingMails = createOnboardingMails({ ...base, mailer, letterhead })
  const given = {
    ...base,
    attempts,
    onboardingMails,
    mailer,
    wakeLead: referrals.wake,
    webhookBody: webhookBody(environment),
    scoreProvider:
      scoresUrl === undefined ? mockScoreProvider : httpScoreProvider(scoresUrl, config.SCORE_PROVIDER_TOKEN),
    client,
    referrals,
  }
  // these have task queues of their own
  const deliveryActivities = {
    deliverWebhook: deliverWebhookActivity(given),
    probeEndpoint: probeEndpointActivity(given),
    resendWebhook: resendWebhookActivity(given),
  }
  const scoreActivities = { recordScoreUpdate: recordScoreUpdateActivity(given) }
  return {
    deliveryActivities,
    scoreActivities,
    activities: {
      recordMilestones: recordMilestonesActivity(given),
      ...welcomeActivities(given),
      ...leadActivities(given),
      advanceClock: advanceClockActivity(given),

      ...certificationActivities(given),
      notify: notifyActivity({ ...given, staffEmail: config.STAFF_EMAIL }),
      wakeLeads: wakeLeadsActivity(given),
      reviewEndpoint: async (partnerId: number) => reviewEndpoint(sql, partnerId),

      compareWithRecord: compareWithRecordActivity(given),
      removeOld: removeOldActivity({ ...given, config }),
    },
    async close(): Promise<void> {
      await Promise.all([attempts.settled(), onboardingMails.settled()])
      await sender.close()
    },
  }
}

function failureTeller(client: Client, log: Logger): AttemptDependencies['tellFailure'] {
  return (leadId, failure) => {
    const telling = client.workflow.getHandle(referralId(leadId)).signal(deliveryFailedSignal, failure)
    telling.catch((error: unknown) =>
      log.debug(
        { err: error, lead_id: leadId, workflow_id: referralId(leadId) },
        'cannot tell a lead’s workflow that its webhook fails',
      ),
    )
  }
}
