import { beforeAll, describe, expect, it } from '@jest/globals'
import { GAINS } from '../support/leads.ts'
import { type Api, type ApiPartner, prepareApi, refusalOf } from '../support/api.ts'

const EVENT = { event_name: 'score_update' }

describe('the sandbox', () => {
  let api: Api
  let partner: ApiPartner

  beforeAll(async () => {
    api = await prepareApi()
    partner = await api.addPartner()
  })

  it('has no routes in production', async () => {
    const production = await prepareApi({ environment: 'production' })
    const { paths } = (await api.send({ method: 'GET', url: '/v1/openapi.json' })).body
    const ofSandbox = Object.keys(paths).filter((path) => path.startsWith('/sandbox/'))
    expect(ofSandbox).toContain('/sandbox/use-sink')
    const document = (await production.send({ method: 'GET', url: '/v1/openapi.json' })).body
    expect(Object.keys(document.paths).filter((path) => path.includes('sandbox'))).toEqual([])
    expect(document.tags).not.toContainEqual(expect.objectContaining({ name: 'Sandbox' }))
    const { post } = await production.addPartner()
    const unknown = await post('sandbox/never-was', {})
    expect(unknown.status).toBe(404)
    const answerFor = (path: string) => unknown.text.replace('/v1/sandbox/never-was', path)
    for (const path of [...ofSandbox, '/sandbox/sinks/any']) {
      const { status, text } = await post(path.slice(1), {})
      expect([path, status, text]).toEqual([path, 404, answerFor(`/v1${path}`)])
    }
    for (const url of ['/console', '/console/', '/console/main.js', '/console/service.js']) {
      const { status, text } = await production.send({ method: 'GET', url })
      expect([url, status, text]).toEqual([url, 404, answerFor(url)])
    }
  })

  it('answers a lead of another partner byte for byte like an unknown one', async () => {
    const stranger = await api.addPartner()
    const lead_id = await partner.createLead()
    for (const [call, fields] of [
      ['get-clock', {}],
      ['advance-clock', { days: 1 }],
      ['simulate-event', EVENT],
      ['run-scenario', { scenario: 'dropped_out' }],
    ] as const) {
      const foreign = await stranger.post(`sandbox/${call}`, { ...fields, lead_id })
      const unknown = await stranger.post(`sandbox/${call}`, { ...fields, lead_id: 999_999 })
      expect([call, foreign.status, foreign.text]).toEqual([call, 404, unknown.text])
    }
  })

  const either = 'event_name or events must be sent, and not both'
  const update = (payload: object) => ({
    lead_id: 1,
    events: [{ ...EVENT, event_payload: { ...GAINS, ...payload } }],
  })
  it.each([
    ['advance-clock', { lead_id: 1 }, 'days or to must be sent, and not both'],
    ['advance-clock', { lead_id: 1, days: 1, to: 'end' }, 'days or to must be sent, and not both'],
    ['advance-clock', { lead_id: 1, days: 731 }, 'days must be at most 730'],
    ['advance-clock', { lead_id: 1, to: 'start' }, 'to must be one of next_score_update, next_retry, end'],
    ['run-scenario', {}, 'scenario'],
    ['run-scenario', { scenario: 'happy_end' }, 'scenario must be one of mortgage_ready_in_a_year'],
    ['simulate-event', { lead_id: 1 }, either],
    ['simulate-event', { lead_id: 1, event_name: 'lead_received' }, 'must be one of client_account_created'],
    ['simulate-event', { lead_id: 1, event_name: 'score_update', events: [EVENT] }, either],
    ['simulate-event', { lead_id: 1, events: [] }, 'events must not be empty'],
    [
      'simulate-event',
      { lead_id: 1, events: Array.from({ length: 51 }, () => EVENT) },
      'events must have at most 50 events',
    ],
    [
      'simulate-event',
      update({ equifax_gain: 551 }),
      'events[0].event_payload.equifax_gain must be an integer from -550 to 550',
    ],
    ['simulate-event', update({ 'Ada\u202e': 1 }), 'events[0].event_payload.Ada? is not a gain'],
    [
      'simulate-event',
      { lead_id: 1, event_name: 'contract_signed', event_payload: {} },
      'only score_update has a payload',
    ],
  ])('refuses to %s with %j', async (call, body, message) => {
    expect(refusalOf(await partner.post(`sandbox/${call}`, body))).toContain(message)
  })
})
