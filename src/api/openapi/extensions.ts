import { tooManyResends } from '../resend-webhook.ts'
import type { Operation } from './operations.ts'

const extension = 'An extension: not part of the interface specification.'

const delivery = {
  event_id: 'evt_0195550a-6b8a-7c31-9d2e-3f4a5b6c7d8e',
  event_name: 'contract_signed',
  lead_id: 1042,
  sequence: 3,
  state: 'pending',
  created_at: '2026-03-09 10:30:00',
  next_attempt_at: '2026-03-09 10:35:07',
  settled_at: null,
  resend_requested_at: null,
  attempts: [
    {
      number: 1,
      trigger: 'scheduled',
      started_at: '2026-03-09 10:30:00',
      duration_ms: 41,
      status: 503,
      error_code: 'http_error',
      hint: 'your endpoint answered 503: look for the error in its own log, under the time of this attempt',
    },
  ],
}

/** What the reference says of the endpoints beyond the interface specification. */
export const extensionOperations: Record<string, Operation> = {
  '/get-deliveries': {
    operationId: 'getDeliveries',
    summary: 'See what became of your webhooks',
    description: `${extension} One delivery for each event that is sent to your endpoint, with every attempt.`,
    errors: ['NOT_FOUND'],
    key: true,
    extension: true,
    request: {
      'of one lead': { lead_id: 1042 },
      'all that wait': { states: ['pending', 'held'], limit: 20 },
    },
    answer: { page: { success: true, data: [delivery], next_cursor: null } },
    answerDescription: 'A page of deliveries.',
  },
  '/resend-webhook': {
    operationId: 'resendWebhook',
    summary: 'Have a webhook sent again',
    description: `${extension} An open webhook is tried now, in its place among the lead’s. A settled one is sent once more, with the same \`webhook-id\` and the header \`webhook-replay: true\`: those that you ask for wait their turn, one request at a time and at most five a second, at most 1,000 at a time. Asking twice for one that waits is asking once. While your endpoint is paused they wait.`,
    errors: ['NOT_FOUND'],
    invalid: 'Invalid request: event_id is required.',
    limited: {
      message: tooManyResends().message,
      when: 'As everywhere, and when 1,000 of your webhooks wait to be sent once more. `Retry-After` is 15 then, the longest that one attempt takes, so that there is room for at least one more; 60 while your endpoint is paused, when there is none until it works.',
    },
    key: true,
    extension: true,
    request: { event: { event_id: delivery.event_id } },
    answer: { sent: { success: true, message: 'The webhook is sent once more.' } },
    answerDescription: 'It will be sent; get-deliveries shows since when it waits, and the attempt.',
  },
  '/get-endpoint': {
    operationId: 'getEndpoint',
    summary: 'See how your endpoint is',
    description: `${extension} Its URL, its health and why, and how many webhooks are open.`,
    errors: [],
    invalid: 'Invalid request: the request body must be a JSON object.',
    key: true,
    extension: true,
    request: { nothing: {} },
    answer: {
      paused: {
        success: true,
        data: {
          url: 'https://lender.example.com/webhooks',
          health: 'paused',
          reason: 'it failed for 72 hours without one success',
          since: '2026-03-09 10:30:00',
          open_deliveries: 12,
        },
      },
    },
    answerDescription: 'The endpoint.',
  },
  '/list-events': {
    operationId: 'listEvents',
    summary: 'Follow all your leads without webhooks',
    description: `${extension} Every event of every lead, in the order in which they were committed. Ask again with \`next\` as \`after\`: nothing is left out, nothing comes twice. Handle the page before you keep its \`next\`.`,
    errors: [],
    invalid: 'Invalid request: after must be the next of an answer.',
    key: true,
    extension: true,
    request: { 'from the beginning': {}, 'go on': { after: '81274-1042-3', limit: 100 } },
    answer: {
      page: {
        success: true,
        data: [
          {
            event_id: delivery.event_id,
            event_name: 'contract_signed',
            event_payload: null,
            created_at: '2026-03-09 10:30:00',
            lead_id: 1042,
            partner_lead_id: 'LOAN-2026-118',
            position: 4,
          },
        ],
        next: '81290-1042-4',
        has_more: false,
      },
    },
    answerDescription: 'A page of events.',
  },
}
