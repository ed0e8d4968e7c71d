import { beforeAll, describe, expect, it } from '@jest/globals'
import { readFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import path from 'node:path'
import {
  describeRehearsal,
  goodReceiver,
  type RehearsalCheck,
  rehearsalChecks,
} from '../../src/capabilities/self-service/decisions/rehearsal.ts'
import { setEndpoint } from '../../src/core/endpoints/statements/endpoint.ts'
import { sealing } from '../../src/core/sealing/seal.ts'
import { atEnd } from '../support/at-end.ts'
import { atOnce } from '../support/at-once.ts'
import { closed } from '../support/closed.ts'
import { isVerified } from '../support/partner-endpoint.ts'
import { partnerCalls } from '../support/service.ts'
import { type SharedService, sharedService } from '../support/shared-service.ts'
import { until } from '../support/until.ts'

/** The one whose second webhook is sent once without waiting for the answer. */
const CHECK_WITHOUT_ANSWER = rehearsalChecks.indexOf('timeout') + 1

interface Webhook {
  id: string
  type: string
  lead: number
  sequence: number
  isReplay: boolean
  data: Record<string, unknown>
}

/** What a receiver has handled, and what it does wrong. */
interface Fault {
  /** Answers another status than 200 for what is genuine. */
  status?: (webhook: Webhook, handled: readonly Webhook[]) => number | undefined
  /** Answers before the body has arrived. */
  early?: (request: IncomingMessage) => number | undefined
  /** Which of the signatures it looks at. */
  signature?: (header: string) => string
  /** How long it takes, for a webhook that is no repeat. */
  takesMs?: number
  /** Takes longer than the sender waits, where that closes the connection before the answer. */
  takesTooLong?: true
  /** What it does when the connection is gone before it has answered. */
  keepsLocked?: true
}

/** A lender's receiver, which handles each webhook-id once. */
async function startReceiver({
  status,
  early,
  signature,
  takesMs = 0,
  takesTooLong,
  keepsLocked,
}: Fault = {}) {
  const receiver = { url: '', secret: '', handled: [] as Webhook[] }
  const locked = new Set<string>()
  const leads = new Set<number>()
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const refusal = early?.(request)
    if (refusal !== undefined) return response.writeHead(refusal, { connection: 'close' }).end()
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const body = Buffer.concat(chunks).toString()
    const headers = { ...(request.headers as Record<string, string>) }
    if (signature) headers['webhook-signature'] = signature(headers['webhook-signature'] ?? '')
    if (!isVerified(receiver.secret, body, headers)) return response.writeHead(400).end()
    const webhook = readWebhook(body, headers)
    leads.add(webhook.lead)
    if (locked.has(webhook.id)) return response.writeHead(409).end()
    const other = status?.(webhook, receiver.handled)
    if (other !== undefined) return response.writeHead(other).end()
    if (!receiver.handled.some(({ id }) => id === webhook.id)) {
      locked.add(webhook.id)
      await new Promise((resolve) => setTimeout(resolve, takesMs))
      // each check has a lead of its own
      if (takesTooLong && leads.size === CHECK_WITHOUT_ANSWER && webhook.sequence === 2)
        await closed(response)
      if (keepsLocked && response.destroyed) return undefined
      locked.delete(webhook.id)
      receiver.handled.push(webhook)
    }
    return response.writeHead(200).end()
  }
  const server = createServer((request, response) => void answer(request, response).catch(() => {}))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  atEnd(async () => {
    server.closeAllConnections()
    server.close()
  })
  receiver.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/webhooks`
  return {
    ...receiver,
    handled: receiver.handled,
    server,
    knows: (secret: string) => (receiver.secret = secret),
  }
}

function readWebhook(body: string, headers: Record<string, string>): Webhook {
  const { type, data } = JSON.parse(body) as { type: string; data: Record<string, unknown> }
  const { lead_id: lead, sequence } = data as { lead_id: number; sequence: number }
  return {
    id: headers['webhook-id'] ?? '',
    type,
    lead,
    sequence,
    isReplay: 'webhook-replay' in headers,
    data,
  }
}

interface View {
  url: string
  state: string
  verdict: string | null
  checks: {
    check: RehearsalCheck
    result: string | null
    received: string | null
    hint: string | null
    lead_id: number
    requests: {
      webhook_id: string
      type: string
      sequence: number
      sent: string | null
      status: number | null
    }[]
  }[]
}

const known = new Set([
  'lead_received',
  'client_account_created',
  'credit_scan_completed',
  'contract_signed',
  'escrow_funded',
  'score_update',
  'mortgage_ready',
  'lead.closed',
])
const of = (handled: readonly Webhook[], lead: number) => handled.filter((each) => each.lead === lead)
const unread = new Set<string>()

/** For each check, a receiver that has no other fault than the one that it is about. */
const faults: Record<RehearsalCheck, [does: string, fault: Fault]> = {
  journey: ['cannot handle a score', { status: ({ type }) => (type === 'score_update' ? 500 : undefined) }],
  repeats: [
    'refuses a webhook that is sent again although it has it',
    {
      status: ({ id, isReplay }, handled) =>
        isReplay && handled.some((each) => each.id === id) ? 409 : undefined,
    },
  ],
  repeats_later: [
    'forgets a webhook-id after the next three, and cannot store the event twice',
    {
      status: ({ id, lead }, handled) =>
        of(handled, lead)
          .slice(0, -3)
          .some((each) => each.id === id)
          ? 500
          : undefined,
    },
  ],
  late: [
    'refuses a milestone that its lead is past',
    {
      status: ({ id, lead, sequence }, handled) =>
        sequence > 1 &&
        !handled.some((each) => each.id === id) &&
        of(handled, lead).some((each) => each.sequence > sequence)
          ? 409
          : undefined,
    },
  ],
  early: [
    'refuses a lead that it does not know',
    {
      status: ({ lead, sequence }, handled) =>
        sequence > 1 && of(handled, lead).length === 0 ? 404 : undefined,
    },
  ],
  unknown: [
    'refuses a type that it does not know',
    { status: ({ type }) => (known.has(type) ? undefined : 400) },
  ],
  rotation: ['looks at the first signature alone', { signature: (header) => header.split(' ')[0] ?? '' }],
  slow: [
    'gives a body no time',
    {
      early: (request) => {
        setTimeout(() => request.complete || request.destroy(), 1000)
        return undefined
      },
    },
  ],
  interrupted: [
    'remembers what it has not read',
    {
      early: (request) => {
        const id = String(request.headers['webhook-id'])
        const isCut = unread.has(id)
        unread.add(id)
        request.on('end', () => unread.delete(id))
        return isCut ? 409 : undefined
      },
    },
  ],
  timeout: ['keeps its lock when the connection is closed', { takesTooLong: true, keepsLocked: true }],
}

describe('a rehearsal', () => {
  let service: SharedService

  const { begun, begin } = atOnce()

  beforeAll(async () => {
    service = await sharedService()
    begin()
  }, 60_000)

  /** A partner whose endpoint is such a receiver. */
  async function scene(fault?: Fault) {
    const receiver = await startReceiver(fault)
    const partner = await service.addPartner()
    receiver.knows(partner.endpoint.secret)
    const secret = sealing(partner.endpoint.secret, service.encryptionKeys)
    await setEndpoint(service.sql, partner.id, { url: receiver.url, secret })
    const calls = partnerCalls(service.port, partner.key)
    const post = (call: string, body: object = {}) => calls.post(`sandbox/${call}`, body)
    const ended = () =>
      until(async () => {
        const view = (await post('get-rehearsal')).body.data as unknown as View
        return view.state !== 'running' && view
      })
    const rehearse = async (checks?: RehearsalCheck[]) => {
      const { status } = await post('rehearse-endpoint', checks && { checks })
      expect(status).toBe(200)
      return ended()
    }
    return { receiver, partner, post, ended, rehearse }
  }

  it(
    'is passed by a good receiver, which handles each event once',
    begun(async () => {
      const { receiver, rehearse } = await scene({ takesTooLong: true })
      const { url, state, verdict, checks } = await rehearse()
      expect(checks.map(({ check, result }) => [check, result])).toEqual(
        rehearsalChecks.map((check) => [check, 'passed']),
      )
      expect([url, state, verdict]).toEqual([
        receiver.url,
        'passed',
        'Your endpoint passed 10 checks. Whether it handled each event once, its own records show.',
      ])
      const events = Object.fromEntries(
        checks.map(({ check, lead_id: lead }) => [check, of(receiver.handled, lead).length]),
      )
      expect(events).toEqual({
        journey: 9,
        repeats: 3,
        repeats_later: 5,
        late: 5,
        early: 3,
        unknown: 3,
        rotation: 4,
        slow: 3,
        interrupted: 3,
        timeout: 3,
      })
      const ids = receiver.handled.map(({ id }) => id)
      expect(new Set(ids).size).toBe(ids.length)
      const timeout = checks.find(({ check }) => check === 'timeout')
      expect(
        timeout?.requests.map(({ type, sequence, sent, status }) => [type, sequence, sent, status]),
      ).toEqual([
        ['lead_received', 1, null, 200],
        ['client_account_created', 2, 'closed before your answer', null],
        ['client_account_created', 2, 'five seconds later', 200],
        ['credit_scan_completed', 3, null, 200],
      ])
      expect(timeout?.requests[1]?.webhook_id).toBe(timeout?.requests[2]?.webhook_id)
    }),
    60_000,
  )

  for (const [check, [does, fault]] of Object.entries(faults))
    it(
      `is failed by a receiver that ${does}, by the check ${check} alone`,
      begun(async () => {
        const { rehearse } = await scene(fault)
        const { state, verdict, checks } = await rehearse()
        const others = checks.filter(({ result }) => result !== 'passed')
        expect(others.map(({ check: name }) => name)).toEqual([check])
        expect(others[0]).toMatchObject({ result: 'failed', hint: expect.any(String) })
        expect([state, verdict]).toEqual(['failed', `1 of 10 checks did not pass: ${check}.`])
      }),
      60_000,
    )

  it('is one at a time, and in no list of leads or deliveries', async () => {
    const { receiver, partner, post, ended } = await scene()
    const answers = await Promise.all(
      Array.from({ length: 5 }, () => post('rehearse-endpoint', { checks: ['late', 'repeats', 'late'] })),
    )
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200])
    const { state, checks } = await ended()
    // in their order
    expect([state, checks.map(({ check }) => check)]).toEqual(['passed', ['repeats', 'late']])
    expect(receiver.handled).toHaveLength(8)
    const calls = partnerCalls(service.port, partner.key)
    const lists = await Promise.all(['list-leads', 'get-deliveries'].map((list) => calls.post(list, {})))
    expect(lists.map(({ body }) => body.data)).toEqual([[], []])
    const { data } = (await calls.post('get-endpoint', {})).body as object as {
      data: Record<string, unknown>
    }
    expect([data.recent_attempts, data.certification]).toEqual([
      { count: 0, success_rate: null, duration_p50_ms: null, duration_p95_ms: null },
      null,
    ])
    const audited = await service.sql
      .selectFrom('audit')
      .select('action')
      .where('partner_id', '=', partner.id)
      .where('action', 'like', 'endpoint.rehears%')
      .orderBy('id')
      .execute()
    expect(audited.map(({ action }) => action)).toEqual(['endpoint.rehearse', 'endpoint.rehearsal_ended'])
  })

  it('sends nothing more where nobody answers', async () => {
    const { receiver, rehearse } = await scene()
    receiver.server.closeAllConnections()
    await new Promise((resolve) => receiver.server.close(resolve))
    const { state, checks } = await rehearse()
    expect([state, checks.map(({ result }) => result)]).toEqual([
      'failed',
      ['failed', ...rehearsalChecks.slice(1).map(() => 'not_judged')],
    ])
    expect(checks[0]?.received).toContain('refused the connection')
    expect(checks[1]?.received).toBe('not sent: an earlier check got no response')
  })

  it('counts for nothing once the endpoint has another URL', async () => {
    const reached = Promise.withResolvers<void>()
    const { partner, post, ended } = await scene({
      takesMs: 500,
      status: () => {
        reached.resolve()
        return undefined
      },
    })
    await post('rehearse-endpoint')
    await reached.promise
    const secret = sealing(partner.endpoint.secret, service.encryptionKeys)
    await setEndpoint(service.sql, partner.id, { url: partner.endpoint.url, secret })
    const { state, verdict } = await ended()
    expect([state, verdict]).toEqual([
      'superseded',
      'Your endpoint got another URL before the rehearsal ended: rehearse it again.',
    ])
    expect(partner.endpoint.arrivals).toEqual([])
  })

  it('says what is missing', async () => {
    const { partner, post } = await scene()
    expect(await post('get-rehearsal')).toMatchObject({ status: 200, body: { success: true, data: null } })
    const unknown = await post('rehearse-endpoint', { checks: ['late', 'later'] })
    expect(unknown).toMatchObject({
      status: 400,
      body: { error: { message: expect.stringContaining('checks[1] must be one of journey, repeats, ') } },
    })
    expect((await post('rehearse-endpoint', { checks: [] })).status).toBe(400)
    const endpoint = service.sql.updateTable('endpoints').where('partner_id', '=', partner.id)
    await endpoint.set({ url: null, state: 'paused', paused_by: 'service' }).execute()
    expect((await post('rehearse-endpoint')).body).toMatchObject({ error: { code: 'NO_ENDPOINT' } })
  })
})

it('the documentation lists the checks', () => {
  const page = readFileSync(path.join(import.meta.dirname, '../../docs/sandbox.md'), 'utf8')
  for (const check of rehearsalChecks) {
    const { does, leaves } = goodReceiver(check)
    expect(page.replaceAll(/ +\|/g, ' |')).toContain(
      `| \`${check}\` | ${describeRehearsal(check)} | ${does} | ${leaves} |`,
    )
  }
})
