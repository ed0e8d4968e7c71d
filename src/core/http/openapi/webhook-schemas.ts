import { z } from 'zod'
import { milestoneNames, milestones } from '../../leads/decisions/milestones.ts'
import { CERTIFICATION_TYPE, PING_TYPE } from '../../deliveries/webhooks/service-calls.ts'
import { discriminated } from './json-schema.ts'
import { eventShape, kindsOf, laterName } from '../events.ts'
import { environment } from '../schemas.ts'
import { ofLead, ofPartner, webhookSequence } from '../response-fields.ts'

const sentAt = z.string().meta({ format: 'date-time', description: 'ISO 8601.' })
const sameTime = sentAt.describe('The same time as `created_at`, in ISO 8601.')

export const webhookNames = milestoneNames.filter((name) => milestones[name].webhook)

/** One schema for each kind of payload. */
export const milestoneWebhooks = kindsOf(webhookNames, 'MilestoneWebhookType').map(
  ({ prefix, names, fields }) => {
    const data = z
      .object({
        event_id: z.string().describe('The same as the header `webhook-id`.'),
        ...eventShape,
        ...fields,
        lead_id: ofLead,
        partner_lead_id: z.string().nullable().describe('As it was when the event was recorded.'),
        sequence: webhookSequence,
        environment,
      })
      .meta({ id: `${prefix}WebhookData` })
    const schemaId = `${prefix}Webhook`
    const schema = z.object({ type: fields.event_name, timestamp: sameTime, data }).meta({ id: schemaId })
    return { names, schemaId, schema }
  },
)

/** Requests that are no events. */
export const serviceCalls = [
  {
    type: PING_TYPE,
    schemaId: 'EndpointPing',
    description: 'A test request, which test-endpoint or our staff asked for. It is not an event.',
  },
  {
    type: CERTIFICATION_TYPE,
    schemaId: 'EndpointCertification',
    description:
      'A request of a certification. It is not an event. Those that must be refused are not signed correctly.',
  },
].map(({ type, schemaId, description }) => {
  const data = z.object({ partner_id: ofPartner, environment }).meta({ id: `${schemaId}Data` })
  const schema = z
    .object({ type: z.literal(type).describe('What the request is.'), timestamp: sentAt, data })
    .meta({ id: schemaId })
  return { type, schemaId, description, schema }
})

const others = z
  .object({
    type: laterName([...webhookNames, ...serviceCalls.map(({ type }) => type)]),
    timestamp: sentAt,
    data: z.record(z.string(), z.unknown()),
  })
  .meta({ id: 'OtherWebhook' })

discriminated(
  'WebhookEvent',
  'type',
  [...milestoneWebhooks, ...serviceCalls.map(({ type, ...call }) => ({ ...call, names: [type] }))],
  others,
  'Any request to your endpoint. Accept and ignore a `type` that you do not know: new ones may be added.',
)
