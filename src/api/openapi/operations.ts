import type { ErrorCode } from '../../errors.ts'
import { type Examples, leadExample, leadIdExample, metadataExample, newLeadExample } from './examples.ts'

export interface Operation {
  operationId: string
  summary: string
  description: string
  /** Errors of this endpoint beside those that every request can get. */
  errors: ErrorCode[]
  /** The message of its INVALID_PAYLOAD, where the common one does not fit. */
  invalid?: string
  /** A RATE_LIMITED of its own: its message, and when it is answered. */
  limited?: { message: string; when: string }
  /** False where a request without a key is welcome too. */
  key: boolean
  /** Beyond the interface specification. */
  extension?: true
  request?: Examples
  answer: Examples
  answerDescription: string
}

/** What the reference says of each specified endpoint, by its path; what it takes and answers comes from the schemas. */
export const operations: Record<string, Operation> = {
  '/ping': {
    operationId: 'ping',
    summary: 'Check that the service is online',
    description: 'Needs no key. A key that is sent is checked, so that it can be tried out here.',
    errors: [],
    key: false,
    answer: {
      pong: { success: true, message: 'pong', environment: 'sandbox', time: '2026-03-02 15:04:05' },
    },
    answerDescription: 'The service is online.',
  },
  '/create-lead': {
    operationId: 'createLead',
    summary: 'Refer a borrower',
    description:
      'Creates a lead and starts the borrower’s journey: a `lead_received` webhook follows. Unknown fields are ignored. With an `Idempotency-Key`, repeating the request within 24 hours gives the same answer and no second lead.',
    errors: ['IDEMPOTENCY_CONFLICT'],
    invalid: 'Invalid request: email must be a valid e-mail address; phone is required.',
    key: true,
    request: newLeadExample,
    answer: {
      created: { success: true, message: 'Lead created.', lead_id: 1042, partner_lead_id: 'LOAN-2026-118' },
      'without partner_lead_id': { success: true, message: 'Lead created.', lead_id: 1043 },
    },
    answerDescription: 'The lead was created, or had been by this Idempotency-Key.',
  },
  '/get-lead': {
    operationId: 'getLead',
    summary: 'Read a lead’s current state',
    description:
      'Optional fields that were not given are left out. Metadata stands beside the lead’s own fields.',
    errors: ['NOT_FOUND'],
    key: true,
    request: leadIdExample,
    answer: leadExample,
    answerDescription: 'The lead.',
  },
  '/get-events': {
    operationId: 'getEvents',
    summary: 'Read a lead’s history',
    description: 'The complete history of the lead, oldest first, with the events that are not webhooks.',
    errors: ['NOT_FOUND'],
    key: true,
    request: leadIdExample,
    answer: {
      history: {
        success: true,
        data: [
          {
            event_name: 'lead_received',
            event_payload: { partner_lead_id: 'LOAN-2026-118' },
            created_at: '2026-03-02 15:04:05',
          },
          { event_name: 'contract_signed', event_payload: null, created_at: '2026-03-09 10:30:00' },
        ],
      },
    },
    answerDescription: 'The history.',
  },
  '/update-partner-info': {
    operationId: 'updatePartnerInfo',
    summary: 'Add to a lead',
    description:
      'A field that is not sent stays, `null` removes one. `partner_lead_id`, `loan_officer_id`, `fico_range` and `notes` change the lead. Any other field is stored as metadata under its name, 1 to 64 printable characters, at most 50 of them a lead. What the service owns and who the borrower is cannot be changed.',
    errors: ['NOT_FOUND'],
    key: true,
    request: metadataExample,
    answer: { updated: { success: true, message: 'Lead updated.' } },
    answerDescription: 'The lead was updated.',
  },
}
