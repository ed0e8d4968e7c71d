import { readdirSync, readFileSync, statSync } from 'node:fs'
import path from 'node:path'
import { beforeAll, describe, expect, it } from '@jest/globals'
import { Webhook } from 'standardwebhooks'
import { sandboxPartner, type SandboxPartner } from '../sandbox/partner.ts'
import { type PartnerEndpoint, startPartnerEndpoint } from '../support/partner-endpoint.ts'
import { type SharedService, sharedService } from '../support/shared-service.ts'
import { type Prs, prsOf } from './prs.ts'

const KILLS = 2
const LEADS = 8
const JOURNEY = ['client_account_created', 'credit_scan_completed', 'contract_signed', 'escrow_funded']

describe('prs listen', () => {
  let service: SharedService
  let partner: SandboxPartner
  let receiver: PartnerEndpoint
  let prs: Prs

  beforeAll(async () => {
    service = await sharedService()
  })
  const prepare = async () => {
    ;[partner, receiver] = [await sandboxPartner(service, service.port), await startPartnerEndpoint()]
    prs = prsOf()
  }

  const environment = () => ({
    REFERRALS_KEY: partner.key,
    REFERRALS_URL: `http://127.0.0.1:${service.port}/v1`,
  })
  const listen = (...args: string[]) =>
    prs.start(['listen', '--forward-to', receiver.url, ...args], environment())
  const stateFile = () => {
    const name = readdirSync(prs.state).find((each) => each.endsWith('.json')) ?? ''
    return path.join(prs.state, name)
  }
  const stored = () =>
    JSON.parse(readFileSync(stateFile(), 'utf8')) as { secret: string; cursor: string | null }
  const play = (lead: number) =>
    partner.simulate(lead, { events: JOURNEY.map((name) => ({ event_name: name })) })
  const arrived = (lead: number) => receiver.arrivals.filter(({ event }) => event.data.lead_id === lead)

  describe('with a receiver that works', () => {
    beforeAll(prepare)

    it('forwards what the endpoint got, byte for byte and in order, signed with a secret of its own', async () => {
      const lead = await partner.createLead()
      await play(lead)
      const { arrivals: sent } = partner.endpoint
      await partner.endpoint.until(({ length }) => length === 1 + JOURNEY.length)
      const listening = await listen('--from', 'beginning')
      const { secret } = stored()
      expect(listening.lines[0]).toBe(`Ready. Signing secret: ${secret}`)
      expect(secret).not.toBe(partner.endpoint.secret)
      await receiver.until(({ length }) => length === sent.length)
      expect(receiver.arrivals.map(({ id, body }) => ({ id, body }))).toEqual(
        sent.map(({ id, body }) => ({ id, body })),
      )
      for (const { id, timestamp, signature, body } of receiver.arrivals) {
        const headers = {
          'webhook-id': id,
          'webhook-timestamp': String(timestamp),
          'webhook-signature': signature,
        }
        expect(new Webhook(secret).verify(body, headers)).toEqual(JSON.parse(body))
      }
      await listening.until(() => listening.lines.length === sent.length + 2)
      expect(await listening.end('SIGINT')).toBe(0)
      // it goes on where it ended
      const next = await partner.createLead()
      const going = await listen()
      await receiver.until(() => arrived(next).length === 1)
      expect(await going.end()).toBe(0)
      expect(arrived(lead)).toHaveLength(1 + JOURNEY.length)
    })

    it('is one at a time, also after it was killed, and keeps its secret for its owner alone', async () => {
      const first = await listen()
      const second = await prs.run(['listen', '--forward-to', receiver.url], environment())
      expect([second.code, second.stderr]).toEqual([
        2,
        `prs: Another prs listen (process ${first.pid}) forwards the webhooks of this key: end it, or give this one a folder of its own with --state.\n`,
      ])
      await first.end('SIGKILL')
      const third = await listen()
      expect(await third.end()).toBe(0)
      expect(readdirSync(prs.state).filter((name) => !name.endsWith('.json'))).toEqual([])
      expect([prs.state, stateFile()].map((file) => statSync(file).mode & 0o777)).toEqual([0o700, 0o600])
    })

    it.each([
      ['a production key', ['--api-key', 'prs_live_1'], 2, 'This is a production key: it was not sent'],
      ['a key that nobody has', ['--api-key', 'prs_test_nobody'], 1, 'Is it a key of this sandbox'],
      ['no service', ['--base-url', 'http://127.0.0.1:9/v1'], 1, 'Is the sandbox running'],
      ['no receiver', ['--forward-to', 'localhost:3000'], 2, 'localhost:3000 is not the URL of a receiver'],
    ] as const)('says in one line what to do about %s', async (_, args, code, message) => {
      const result = await prs.run(['listen', '--forward-to', receiver.url, ...args], environment())
      expect([result.code, result.stdout]).toEqual([code, ''])
      expect(result.stderr).toMatch(/^prs: [^\n]+\n$/)
      expect(result.stderr).toContain(message)
    })
  })

  describe('with a receiver that refuses', () => {
    beforeAll(prepare)

    it('tries a lead’s first again before its next, while others go on, and keeps its place', async () => {
      await (await listen()).end()
      const start = stored().cursor
      const [bad, good] = [await partner.createLead(), await partner.createLead()]
      let isGood = false
      receiver.answer = ({ event: { data } }, response) =>
        void response.writeHead(data.lead_id === bad && !isGood ? 500 : 200).end()
      await Promise.all([play(bad), play(good)])
      const listening = await listen()
      await receiver.until(() => arrived(good).length === 5 && arrived(bad).length === 2)
      expect(arrived(bad).map(({ event }) => event.type)).toEqual(['lead_received', 'lead_received'])
      // what others have accepted does not move the place past it
      expect(await listening.end()).toBe(0)
      expect(stored().cursor).toBe(start)
      isGood = true
      const again = await listen()
      await receiver.until(() => arrived(bad).at(-1)?.event.type === 'escrow_funded')
      expect(await again.end()).toBe(0)
      expect(arrived(bad).map(({ event }) => event.data.sequence)).toEqual([1, 1, 1, 2, 3, 4, 5])
    })

    it('loses nothing when it is killed again and again, and keeps each lead’s order', async () => {
      const accepted = new Map<number, number>()
      const outOfOrder: string[] = []
      let requests = 0
      receiver.answer = ({ event: { data } }, response) => {
        requests += 1
        const isRefused = requests % 7 === 0
        const last = accepted.get(data.lead_id) ?? 0
        if (data.sequence > last + 1) outOfOrder.push(`${data.lead_id}: ${data.sequence} after ${last}`)
        if (!isRefused) accepted.set(data.lead_id, Math.max(last, data.sequence))
        response.writeHead(isRefused ? 503 : 200).end()
      }
      const leads: number[] = []
      for (let count = 0; count < LEADS; count += 1) leads.push(await partner.createLead())
      const playing = Promise.all(leads.map(play))
      for (let kills = 0; kills < KILLS; kills += 1) {
        const listening = await listen()
        const { length: before } = receiver.arrivals
        await receiver.until(({ length }) => length >= before + 10)
        await listening.end('SIGKILL')
      }
      await playing
      const listening = await listen()
      await receiver.until(() => leads.every((lead) => accepted.get(lead) === 1 + JOURNEY.length))
      expect(await listening.end()).toBe(0)
      expect(outOfOrder).toEqual([])
    })
  })
})
