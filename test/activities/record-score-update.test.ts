import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import { expect, it } from '@jest/globals'
import { httpScoreProvider, mockScoreProvider } from '../../activities/record-score-update.ts'
import { parseScoreGains } from '../../src/leads/event-payloads.ts'
import { recordClosing } from '../../src/leads/close-lead.ts'
import { atEnd } from '../support/at-end.ts'
import { prepareDelivering } from '../support/delivering.ts'

const GAINS = {
  experian_gain: 550,
  equifax_gain: -550,
  transunion_gain: 0,
  estimated_time_remaining: '30-60 days',
}
const REQUEST = { leadId: 7, period: 2 }

/** Asks a provider that answers `answer`. */
async function ask(answer: unknown, status = 200) {
  let seen: object | undefined
  const server = createServer((request, response) => {
    void json(request).then((body) => {
      seen = { method: request.method, authorization: request.headers.authorization, body }
      response.writeHead(status).end(JSON.stringify(answer))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  atEnd(async () => server.close().closeAllConnections())
  const { port } = server.address() as AddressInfo
  const gains = await httpScoreProvider(`http://127.0.0.1:${port}/`, 'token')(REQUEST)
  return { gains, seen }
}

it('asks the provider for a lead and a period with its token, and takes its four fields only', async () => {
  expect(await ask({ ...GAINS, report: 'all of it' })).toEqual({
    gains: GAINS,
    seen: { method: 'POST', authorization: 'Bearer token', body: { lead_id: 7, period: 2 } },
  })
})

it.each([
  ['a gain beyond the scale', { ...GAINS, experian_gain: 551 }, 200],
  ['nothing', null, 200],
  ['another status', GAINS, 201],
])('takes no gains from %s', async (_, answer, status) => {
  await expect(ask(answer, status)).rejects.toThrow('score')
})

it('makes up the same well-formed gains for the same update in the sandbox, and others for another', async () => {
  const gains = await mockScoreProvider(REQUEST)
  expect(parseScoreGains(gains)).toEqual(gains)
  expect(await mockScoreProvider(REQUEST)).toEqual(gains)
  expect(await mockScoreProvider({ ...REQUEST, leadId: 8 })).not.toEqual(gains)
})

it('asks nobody about a lead that is closed', async () => {
  const on = await prepareDelivering()
  const leadId = await on.commitLead()
  let asked = 0
  const record = on.startProcess().score(async () => {
    asked += 1
    return GAINS
  })
  const update = (period: number) => ({ period, dedupeKey: `score_update:${period}` })
  expect(await record(leadId, update(1))).toMatchObject({ outcomes: [{ outcome: 'recorded' }] })
  await recordClosing(on.sql, leadId, 'withdrew')
  expect(await record(leadId, update(2))).toMatchObject({ outcomes: [{ outcome: 'closed' }] })
  expect(asked).toBe(1)
})
