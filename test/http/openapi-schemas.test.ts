import { describe, expect, it } from '@jest/globals'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { Webhook } from 'standardwebhooks'
import { milestoneNames, milestones } from '../../src/leads/milestones.ts'
import { openApiDocument, type Operation, resolve, type Schema } from './openapi-document.ts'

const { paths, webhooks, components } = openApiDocument
const { schemas } = components
const operations = Object.values(paths).flatMap((methods): Operation[] => Object.values(methods))
const bodyOf = (operation: Operation) => operation.responses['200']?.content['application/json']

const ajv = new Ajv2020({ strict: false, validateFormats: false })
ajv.addSchema({ $id: 'document', components })

/** Says what a value lacks to be of a named schema. */
function validator(name: string) {
  const validate = ajv.compile({ $ref: `document#/components/schemas/${name}` })
  return (value: unknown) => (validate(value) ? [] : (validate.errors ?? []))
}

const gains = {
  experian_gain: 12,
  equifax_gain: -9,
  transunion_gain: 15,
  estimated_time_remaining: '90-120 days',
}
const payloads = { lead_received: { partner_lead_id: 'LOAN-2026-118' }, score_update: gains, none: null }
const at = '2026-03-02 15:04:05'

describe('events in the OpenAPI document', () => {
  const more = {
    Event: {},
    FeedEvent: { event_id: 'evt_1', lead_id: 1, partner_lead_id: null, sequence: null, cursor: '1-2-3-4' },
  }
  const cases = Object.entries(more).flatMap(([schema, fields]) =>
    milestoneNames.map((name) => [schema, name, fields] as const),
  )

  it.each(cases)('%s has the payload of a %s and no other', (schema, name, fields) => {
    const faults = validator(schema)
    const kind = milestones[name].payload ?? 'none'
    const of = (payload: unknown) => ({ ...fields, event_name: name, event_payload: payload, created_at: at })
    expect(faults(of(payloads[kind]))).toEqual([])
    for (const [other, payload] of Object.entries(payloads)) {
      // without a partner_lead_id, a lead_received has none
      const isAllowed = other === kind || (kind === 'lead_received' && other === 'none')
      expect([other, faults(of(payload)).length > 0]).toEqual([other, !isAllowed])
    }
    expect(schemas[schema]?.discriminator?.mapping).toHaveProperty(name)
  })

  it.each(Object.entries(more))('%s can be one that is added later', (schema, fields) => {
    const faults = validator(schema)
    const later = { ...fields, event_name: 'house_bought', created_at: at }
    expect(faults({ ...later, event_payload: { price: 1 } })).toEqual([])
    expect(faults({ ...later, event_payload: null })).toEqual([])
    expect(validator('EventName')('house_bought')).toEqual([])
    expect(validator('LeadStatus')('house_bought')).toEqual([])
  })

  it('have discriminators that lead to schemas of their values', () => {
    const unions = Object.values(schemas).filter(({ oneOf }) => oneOf !== undefined)
    expect(unions.length).toBeGreaterThanOrEqual(4)
    for (const { oneOf = [], discriminator } of unions) {
      const { propertyName = '', mapping = {} } = discriminator ?? {}
      const members = oneOf.map(({ $ref = '' }) => $ref)
      // the values of the others are not known yet
      expect(new Set(Object.values(mapping))).toEqual(new Set(members.filter((ref) => !isOther(ref))))
      for (const [value, $ref] of Object.entries(mapping))
        expect(valuesOf(resolve({ $ref }).properties?.[propertyName])).toContain(value)
    }
  })

  it('tell webhooks apart by their type', () => {
    const faults = validator('WebhookEvent')
    for (const [type, { post }] of Object.entries(webhooks)) {
      const { schema, example } = post.requestBody?.content['application/json'] ?? {}
      expect(faults(example)).toEqual([])
      expect(faults({ ...(example as object), type: 'house.bought' })).toEqual([])
      expect(faults({ type, timestamp: '2026-03-02T15:04:05Z', data: {} })).not.toEqual([])
      expect(schemas['WebhookEvent']?.discriminator?.mapping[type]).toBe(schema?.$ref)
    }
  })
})

it.each(Object.entries(webhooks))('the signature of the example of %s verifies', (_, { post }) => {
  const headers = Object.fromEntries(post.parameters.map(({ name, example }) => [name, example]))
  const { example } = post.requestBody?.content['application/json'] ?? {}
  const [secret = ''] = /whsec_[\w+/=]+/.exec(JSON.stringify(post.parameters)) ?? []
  const { 'webhook-id': id = '', 'webhook-timestamp': timestamp } = headers
  const sentAt = new Date(Number(timestamp) * 1000)
  expect(new Webhook(secret).sign(id, sentAt, JSON.stringify(example))).toBe(headers['webhook-signature'])
  expect(JSON.stringify(paths['/set-endpoint'])).toContain(secret)
})

const isOther = (ref: string) => ref.startsWith('#/components/schemas/Other')

function valuesOf(schema: Schema = {}): unknown[] {
  const { const: only, enum: several } = schema.$ref === undefined ? schema : resolve(schema)
  return several ?? [only]
}

describe('operations in the OpenAPI document', () => {
  it.each(operations.map((operation) => [operation.operationId, operation] as const))(
    '%s has examples of its response that fit',
    (_, operation) => {
      const { schema, examples } = bodyOf(operation) ?? { schema: { $ref: '' }, examples: {} }
      const faults = validator(schema.$ref.replace('#/components/schemas/', ''))
      for (const { value } of Object.values(examples)) expect(faults(value)).toEqual([])
    },
  )

  it('have an X-Request-Id in every response, and Retry-After where one has to wait', () => {
    const all = operations.flatMap(({ responses }) => Object.entries(responses))
    for (const [status, { $ref, headers: own }] of all) {
      const headers = $ref === undefined ? own : components.responses[$ref.split('/').at(-1) ?? '']?.headers
      expect(headers).toHaveProperty('X-Request-Id', { $ref: '#/components/headers/X-Request-Id' })
      expect(['Retry-After' in (headers ?? {}), status]).toEqual([['429', '503'].includes(status), status])
    }
  })
})
