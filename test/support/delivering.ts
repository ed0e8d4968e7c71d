import { createAttempts } from '../../activities/attempts.ts'
import { createDeliver, deliverWebhookActivity } from '../../activities/deliver-webhook.ts'
import { recordMilestonesActivity } from '../../activities/record-milestones.ts'
import type { Mailer } from '../../activities/mailer.ts'
import { recordScoreUpdateActivity, type ScoreProvider } from '../../activities/record-score-update.ts'
import { welcomeActivities } from '../../activities/welcome.ts'
import type { AttemptTrigger } from '../../src/deliveries/delivery-states.ts'
import type { DeliveryFailure } from '../../src/leads/referral-state.ts'
import { switchAsStaff } from '../../src/endpoints/switch-endpoint.ts'
import { insertLead } from './insert-lead.ts'
import { webhookBody } from '../../src/webhooks/body.ts'
import { sealing } from '../../src/seal.ts'
import { generateSecret } from '../../src/webhooks/signature.ts'
import { createLogger } from '../../src/observe/log.ts'
import { createSender } from '../../src/webhooks/send.ts'
import { atEnd } from './at-end.ts'
import { LEAD } from './leads.ts'
import { onboardingMailsOf } from './mailer.ts'
import { openDatabase } from './open-database.ts'
import { startPartnerEndpoint } from './partner-endpoint.ts'
import { testKeys } from './test-keys.ts'

/** The activity that delivers, over a real database and a real endpoint, without a worker around it. */
export async function prepareDelivering() {
  const { sql, partnerId } = await openDatabase()
  const endpoint = await startPartnerEndpoint()
  endpoint.secret = generateSecret()
  const secret = sealing(endpoint.secret, testKeys)
  await switchAsStaff(sql, partnerId, { url: endpoint.url, secret })
  const { send, close } = createSender({ environment: 'sandbox', allowPrivateNetwork: true })
  atEnd(close)
  const noticed: string[] = []
  const observe = {
    attempted: () => {},
    delivered: () => {},
    recorded: () => {},
    unreadable: ({ reason }: { reason: string }) => void noticed.push(reason),
    noticed: ({ kind }: { kind: string }) => void noticed.push(kind),
  }
  const log = createLogger('silent', 'worker')
  const toBody = webhookBody('sandbox')
  /** As the activities of one process. */
  const startProcess = (options: Parameters<typeof createAttempts>[1] = {}) => {
    const told: DeliveryFailure[] = []
    const tellFailure = (_: number, failure: DeliveryFailure) => void told.push(failure)
    const base = { sql, send, startEndpoint: async () => {}, encryptionKeys: testKeys, observe, log }
    const attempts = createAttempts({ ...base, tellFailure }, options)
    const given = { ...base, attempts, webhookBody: toBody, environment: 'sandbox' as const }
    const [inSchedule, beside] = [deliverWebhookActivity(given), createDeliver(given)]
    const deliver = async (leadId: number, sequence: number, trigger: AttemptTrigger) =>
      trigger === 'scheduled'
        ? inSchedule(leadId, partnerId, sequence)
        : { outcome: await beside(partnerId, { leadId, sequence, trigger }) }
    return {
      attempts,
      /** Of which failures the leads' workflows are told. */
      told,
      deliver,
      record: recordMilestonesActivity(given),
      score: (scoreProvider: ScoreProvider) => recordScoreUpdateActivity({ ...given, scoreProvider }),
      welcome: (mailer: Mailer) => {
        const onboardingMails = onboardingMailsOf(sql, mailer)
        const mailsSettled = async () => onboardingMails.settled()
        return { ...welcomeActivities({ ...given, onboardingMails }), mailsSettled }
      },
      settled: async () => attempts.settled(),
    }
  }
  const { deliver } = startProcess()
  const commitLead = () => sql.transaction().execute((trx) => insertLead(trx, partnerId, LEAD, toBody))
  return { sql, partnerId, endpoint, deliver, commitLead, noticed, startProcess }
}
