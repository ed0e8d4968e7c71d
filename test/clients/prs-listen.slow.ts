import { beforeAll, describe, expect, it } from '@jest/globals'
import { createServer, request as httpRequest } from 'node:http'
import type { AddressInfo } from 'node:net'
import { chmodSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { Webhook } from 'standardwebhooks'
import { sandboxPartner, type SandboxPartner } from '../sandbox/partner.ts'
import { atEnd } from '../support/at-end.ts'
import { temporaryFolder } from '../support/folder.ts'
import { type PartnerEndpoint, startPartnerEndpoint } from '../support/partner-endpoint.ts'
import { type SharedService, sharedService } from '../support/shared-service.ts'
import { until } from '../support/until.ts'
import { bundlePrs, type Prs } from './prs.ts'

const KILLS = 10

describe('prs listen', () => {
  let service: SharedService
  let partner: SandboxPartner
  let receiver: PartnerEndpoint
  let prs: Prs

  beforeAll(async () => {
    service = await sharedService()
  }, 60_000)

  const prepare = async () => {
    ;[partner, receiver] = [await sandboxPartner(service, service.port), await startPartnerEndpoint()]
    prs = bundlePrs()
  }
  const environment = () => ({
    REFERRALS_KEY: partner.key,
    REFERRALS_URL: `http://127.0.0.1:${service.port}/v1`,
  })
  const listen = (...args: string[]) =>
    prs.start(['listen', '--forward-to', receiver.url, ...args], environment())
  const refused = (...args: string[]) =>
    prs.run(['listen', '--forward-to', receiver.url, ...args], environment())
  const stateFile = () => {
    const name = readdirSync(prs.state).find((each) => each.endsWith('.json')) ?? ''
    return path.join(prs.state, name)
  }
  const stored = () =>
    JSON.parse(readFileSync(stateFile(), 'utf8')) as { secret: string; cursor: string | null }
  const feed = async () => {
    const { data } = await partner.post('list-events', { webhooks: true, limit: 100 })
    return data as unknown as { event_id: string; cursor: string; webhook_body: string | null }[]
  }
  const simulate = (lead: number, ...names: string[]) =>
    partner.simulate(lead, { events: names.map((name) => ({ event_name: name })) })
  const arrived = (lead: number) => receiver.arrivals.filter(({ event }) => event.data.lead_id === lead)

  describe('with a whole journey', () => {
    beforeAll(async () => {
      await prepare()
      await partner.post('set-endpoint', { notify: ['lead.closed'] })
      const lead = await partner.createLead()
      await partner.post('update-partner-info', { lead_id: lead, partner_lead_id: 'LOAN-1' })
      await simulate(lead, 'client_account_created', 'credit_scan_completed', 'client_engaged_in_chat')
      await simulate(lead, 'contract_signed', 'escrow_funded', 'score_update')
      await partner.post('update-partner-info', { lead_id: lead, partner_lead_id: 'Größe “2”' })
      await simulate(lead, 'score_update', 'mortgage_ready')
      await service.referrals.signal(lead, 'close', { reason: 'withdrew' })
      await partner.endpoint.until((all) => all.at(-1)?.event.type === 'lead.closed')
    }, 30_000)

    it('forwards what the endpoint got, byte for byte, signed with a secret of its own', async () => {
      const listening = await listen('--from', 'beginning')
      const { secret } = stored()
      expect(listening.lines[0]).toBe(`Ready. Signing secret: ${secret}`)
      expect(secret).not.toBe(partner.endpoint.secret)
      const sent = partner.endpoint.arrivals
      await receiver.until((all) => all.length === sent.length)
      expect(sent.map(({ event }) => event.type)).toEqual([
        'lead_received',
        'client_account_created',
        'credit_scan_completed',
        'contract_signed',
        'escrow_funded',
        'score_update',
        'score_update',
        'mortgage_ready',
        'lead.closed',
      ])
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
      expect(listening.lines.at(-1)).toMatch(
        /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d {2}lead\.closed {13}lead \d+ {2}#9 {2}200 {2}\d+ ms$/,
      )
      expect(await listening.end('SIGINT')).toBe(0)
      expect(stored().cursor).toBe((await feed()).at(-1)?.cursor)
    })

    it('sends the headers of the service', async () => {
      const seen: Record<string, string>[] = []
      const server = createServer((request, response) => {
        seen.push(request.headers as Record<string, string>)
        request.resume().on('end', () => response.end())
        if (seen.length === 9) got.resolve()
      })
      const got = Promise.withResolvers<void>()
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
      atEnd(async () => void server.close())
      const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
      const args = ['listen', '--from', 'beginning', '--forward-to', url]
      const listening = await prs.start(args, environment())
      await got.promise
      await listening.end()
      expect(seen[0]).toMatchObject({
        'content-type': 'application/json',
        'user-agent': 'partner-referral-service-webhooks/1',
      })
      expect(Object.keys(seen[0] ?? {}).toSorted()).toEqual([
        'connection',
        'content-length',
        'content-type',
        'host',
        'user-agent',
        'webhook-id',
        'webhook-signature',
        'webhook-timestamp',
      ])
    })

    it('begins with the event that --from names, or now, and goes on where it ended', async () => {
      const events = await feed()
      const sixth = events[5]?.event_id ?? ''
      receiver.arrivals.length = 0
      const listening = await listen('--from', sixth, '--json')
      const rest = events.slice(5).filter(({ webhook_body: body }) => body !== null)
      await receiver.until((all) => all.length === rest.length)
      expect(receiver.arrivals.map(({ body }) => body)).toEqual(rest.map(({ webhook_body: body }) => body))
      await listening.until(() => listening.lines.length === rest.length + 1)
      const [first, second] = listening.lines.map((line) => JSON.parse(line))
      expect(first).toMatchObject({ ready: true, secret: stored().secret, forward_to: receiver.url })
      expect(second).toMatchObject({
        event_id: rest[0]?.event_id,
        attempt: 1,
        status: 200,
        retry_in_ms: null,
      })
      await listening.end()
      const skipping = await listen('--from', 'now')
      const lead = await partner.createLead()
      await receiver.until(() => arrived(lead).length === 1)
      await skipping.end()
      expect(receiver.arrivals).toHaveLength(rest.length + 1)
      await simulate(lead, 'contract_signed')
      const going = await listen()
      await receiver.until(() => arrived(lead).length === 2)
      await going.end()
      expect(receiver.arrivals).toHaveLength(rest.length + 2)
    })

    it('is one at a time, also after it was killed', async () => {
      const first = await listen()
      const second = await refused()
      expect(second.code).toBe(2)
      expect(second.stderr).toBe(
        `prs: Another prs listen (process ${first.pid}) forwards the webhooks of this key: end it, or give this one a folder of its own with --state.\n`,
      )
      await first.end('SIGKILL')
      expect(readdirSync(prs.state).filter((name) => name.endsWith('.lock'))).toHaveLength(1)
      const third = await listen()
      expect(await third.end()).toBe(0)
      expect(readdirSync(prs.state).filter((name) => !name.endsWith('.json'))).toEqual([])
    })

    it('keeps its secret for its owner alone', async () => {
      expect(statSync(prs.state).mode & 0o777).toBe(0o700)
      expect(statSync(stateFile()).mode & 0o777).toBe(0o600)
    })

    it('says why it ends before Ctrl-C, whenever that comes, and exits with 1', async () => {
      const lead = await partner.createLead()
      const held = Promise.withResolvers<void>()
      receiver.answer = (_, response) => void held.promise.then(() => response.writeHead(200).end())
      const listening = await listen('--from', 'beginning')
      await receiver.until((all) => all.some(({ event }) => event.data.lead_id === lead))
      const keys = service.sql.updateTable('api_keys').where('partner_id', '=', partner.id)
      await keys.set({ revoked_at: new Date() }).execute()
      await listening.until(() => listening.stderr().includes('Ctrl-C, twice, ends it at once'))
      const ending = listening.end('SIGINT')
      held.resolve()
      expect(await ending).toBe(1)
      expect(listening.stderr()).toContain('Is it a key of this sandbox, and not revoked?')
      receiver.answer = (_, response) => void response.writeHead(200).end()
      await keys.set({ revoked_at: null }).execute()
    })

    it('says where to go on when the service does not know its place any more', async () => {
      const state = { ...stored(), cursor: '1-1-1-1' }
      writeFileSync(stateFile(), JSON.stringify(state))
      const { code, stderr } = await refused()
      expect(code).toBe(1)
      const [, from = ''] = /^prs: The service does not know the place .* --from (\S+),/.exec(stderr) ?? []
      const listening = await listen('--from', from)
      expect(stored()).toMatchObject({ secret: state.secret })
      await listening.end()
    })
  })

  describe('under load', () => {
    beforeAll(prepare)

    it('loses nothing when it is killed ten times, and keeps each lead’s order', async () => {
      const accepted = new Map<number, number>()
      const outOfOrder: string[] = []
      let requests = 0
      receiver.answer = ({ event: { data } }, response) => {
        requests += 1
        // one of seven is refused, and one of five takes its time
        if (requests % 7 === 0) {
          response.writeHead(503).end()
          return
        }
        const last = accepted.get(data.lead_id) ?? 0
        if (data.sequence > last + 1) outOfOrder.push(`${data.lead_id}: ${data.sequence} after ${last}`)
        accepted.set(data.lead_id, Math.max(last, data.sequence))
        setTimeout(() => response.writeHead(200).end(), requests % 5 === 0 ? 40 : 0)
      }
      const enough = new AbortController()
      const leads: number[] = []
      const load = async () => {
        while (!enough.signal.aborted) {
          const lead = await partner.createLead()
          leads.push(lead)
          await simulate(lead, 'client_account_created', 'credit_scan_completed', 'contract_signed')
          await simulate(lead, 'escrow_funded', 'score_update', 'score_update', 'mortgage_ready')
        }
      }
      await (await listen()).end()
      const loads = [load(), load(), load()]
      for (let kills = 0; kills < KILLS; kills += 1) {
        const listening = await listen()
        const before = receiver.arrivals.length
        await receiver.until((all) => all.length >= before + 25)
        await listening.end('SIGKILL')
      }
      enough.abort()
      await Promise.all(loads)
      const listening = await listen()
      await receiver.until(() => leads.every((lead) => accepted.get(lead) === 8))
      // what was accepted before a kill may still come again
      await until(async () => {
        const { next } = (await partner.post('list-events', { after: 'now' })) as { next?: string }
        return stored().cursor === next
      })
      expect(await listening.end()).toBe(0)
      expect([outOfOrder, accepted.size]).toEqual([[], leads.length])
    }, 120_000)
  })

  describe('with a receiver that refuses one lead', () => {
    beforeAll(prepare)

    it('tries its first again before its next, while others go on, and keeps its place', async () => {
      await (await listen()).end()
      const start = stored().cursor
      const [bad, good] = [await partner.createLead(), await partner.createLead()]
      let isGood = false
      receiver.answer = ({ event: { data } }, response) =>
        void response.writeHead(data.lead_id === bad && !isGood ? 500 : 200).end()
      await simulate(bad, 'contract_signed')
      await simulate(good, 'client_account_created', 'contract_signed', 'escrow_funded')
      const listening = await listen()
      await receiver.until(() => arrived(good).length === 4 && arrived(bad).length === 3)
      expect(arrived(bad).map(({ event }) => event.type)).toEqual(Array(3).fill('lead_received'))
      await listening.until(() => listening.lines.some((line) => line.includes('  500  ')))
      expect(listening.lines.find((line) => line.includes('  500  '))).toMatch(
        /your endpoint answered 500: look for the error in its log.*\. Trying again in \d\.\d s$/,
      )
      // what others have accepted does not move the place past it
      expect(await listening.end()).toBe(0)
      expect(stored().cursor).toBe(start)
      isGood = true
      const again = await listen()
      await receiver.until(() => arrived(bad).at(-1)?.event.type === 'contract_signed')
      await again.until(() => again.lines.some((line) => line.includes('contract_signed')))
      await receiver.until(() => arrived(good).length === 8)
      expect(await again.end()).toBe(0)
      expect(stored().cursor).toBe((await feed()).at(-1)?.cursor)
    }, 60_000)
  })

  describe('while the service is away', () => {
    beforeAll(prepare)

    it('says so, and goes on when it is back', async () => {
      let isAway = false
      const proxy = createServer((request, response) => {
        if (isAway) {
          request.socket.destroy()
          return
        }
        const { method = '', url = '', headers } = request
        const target = new URL(url, `http://127.0.0.1:${service.port}`)
        const forwarded = httpRequest(target, { method, headers }, (answer) => {
          response.writeHead(answer.statusCode ?? 0, answer.headers)
          answer.pipe(response)
        })
        request.pipe(forwarded.on('error', () => request.socket.destroy()))
      })
      await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
      atEnd(async () => void proxy.close())
      const { port } = proxy.address() as AddressInfo
      const listening = await listen('--base-url', `http://127.0.0.1:${port}/v1`)
      isAway = true
      proxy.closeAllConnections()
      await listening.until(
        () => listening.stderr() === 'The service does not answer: trying until it does.\n',
      )
      const lead = await partner.createLead()
      isAway = false
      await receiver.until(() => arrived(lead).length === 1)
      expect(listening.stderr()).toContain('The service answers again.\n')
      expect(await listening.end()).toBe(0)
    })
  })

  describe('that cannot run', () => {
    beforeAll(prepare)

    it('refuses a production key before anything is sent', async () => {
      let connections = 0
      const server = createServer().on('connection', () => (connections += 1))
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
      atEnd(async () => void server.close())
      const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
      const given = { REFERRALS_KEY: 'prs_live_123', REFERRALS_URL: `${url}/v1` }
      const args = ['listen', '--forward-to', url]
      for (const { code, stderr } of [
        await prs.run(args, given),
        await prs.run([...args, '--api-key', ' prs_live_1'], { ...given, REFERRALS_KEY: partner.key }),
      ])
        expect([code, stderr]).toEqual([
          2,
          'prs: This is a production key: it was not sent. Webhooks of real borrowers do not belong on this machine; use a key of the sandbox, which begins with prs_test_.\n',
        ])
      expect(connections).toBe(0)
    })

    it.each([
      ['no key', [], { REFERRALS_KEY: '' }, 2, 'There is no API key: set REFERRALS_KEY'],
      ['another word for a key', ['--api-key', 'secret'], {}, 2, 'The API key is not one: set REFERRALS_KEY'],
      ['a key that nobody has', ['--api-key', 'prs_test_nobody'], {}, 1, 'Is it a key of this sandbox'],
      ['no address', [], { REFERRALS_URL: '' }, 2, 'set REFERRALS_URL to a URL that ends in /v1'],
      ['an address without /v1', ['--base-url', 'http://127.0.0.1:3000'], {}, 2, 'ends in /v1'],
      [
        'no service',
        ['--base-url', 'http://127.0.0.1:9/v1'],
        {},
        1,
        'Is the sandbox running, and --base-url its address?',
      ],
      [
        'no receiver',
        ['--forward-to', 'localhost:3000'],
        {},
        2,
        'localhost:3000 is not the URL of a receiver',
      ],
      ['an unknown option', ['--form', 'now'], {}, 2, '"prs listen --help" lists what it takes'],
      [
        'another place',
        ['--from', 'yesterday'],
        {},
        2,
        '--from takes an event_id, now or beginning, and not yesterday',
      ],
      ['an event of nobody', ['--from', 'evt_1'], {}, 2, 'evt_1 is no event of this sandbox'],
      ['a word too much', ['http://localhost'], {}, 2, 'listen takes options alone'],
    ] as const)('says what to do about %s', async (_, args, settings, code, message) => {
      const all = ['listen', '--forward-to', receiver.url, ...args]
      const result = await prs.run(all, { ...environment(), ...settings })
      expect([result.code, result.stdout]).toEqual([code, ''])
      expect(result.stderr).toMatch(/^prs: [^\n]+\n$/)
      expect(result.stderr).toContain(message)
    })

    it('says what to do about a folder or a file that is of no use', async () => {
      const folder = temporaryFolder()
      writeFileSync(path.join(folder, 'file'), '')
      const inFile = await refused('--state', path.join(folder, 'file/state'))
      expect([inFile.code, inFile.stderr]).toEqual([
        2,
        `prs: ${folder}/file/state cannot be written (ENOTDIR): give a folder of yours with --state, or set XDG_STATE_HOME.\n`,
      ])
      await (await listen()).end()
      for (const damaged of ['{', '{}', '{"secret":"x","cursor":null}', 'null']) {
        writeFileSync(stateFile(), damaged)
        const { code, stderr } = await refused()
        expect([code, stderr]).toEqual([
          2,
          `prs: ${stateFile()} is damaged: delete it. A new signing secret is made then.\n`,
        ])
      }
    })

    it('makes folders for its owner alone, and leaves one to others that was theirs before', async () => {
      const shared = temporaryFolder()
      chmodSync(shared, 0o755)
      const made = path.join(shared, 'made/state')
      for (const folder of [shared, made]) await (await listen('--state', folder)).end()
      const modes = [shared, path.dirname(made), made].map((folder) => statSync(folder).mode & 0o777)
      expect(modes).toEqual([0o755, 0o700, 0o700])
      const files = readdirSync(shared).filter((name) => name.endsWith('.json'))
      expect(files.map((name) => statSync(path.join(shared, name)).mode & 0o777)).toEqual([0o600])
    })
  })
})
