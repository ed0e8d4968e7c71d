import { describe, expect, it } from '@jest/globals'
import express from 'express'
import Fastify from 'fastify'
import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from 'node:http'
import { randomUUID } from 'node:crypto'
import type { AddressInfo } from 'node:net'
import { DatabaseSync } from 'node:sqlite'
import { json } from 'node:stream/consumers'
import { Webhook } from 'standardwebhooks'
import { generateSecret } from '../../src/webhooks/signature.ts'
import { type ReceiverOptions, type WebhookEvent, Webhooks } from '../../src/clients/typescript/src/index.ts'
import signatureVectors from '../../docs/signature-vectors.json' with { type: 'json' }
import * as fixtures from '../../src/clients/typescript/src/fixtures.ts'
import { signatureOf } from '../../src/clients/typescript/src/signatures.ts'
import { atEnd } from '../support/at-end.ts'
import { seenOfReadme } from './seen.ts'

const [secret, former] = [generateSecret(), generateSecret()]
const webhooks = new Webhooks({ secrets: secret })
const [received, , , , , update] = fixtures.journey()
type GenuineRequest = Awaited<ReturnType<typeof fixtures.request>>
const signed = (event: WebhookEvent | undefined, by = secret) => fixtures.request(event as WebhookEvent, by)

describe('a webhook', () => {
  it('is a typed event, with its times and names as everywhere', async () => {
    const { body, headers } = await signed(update)
    const event = await webhooks.unwrap(body, headers)
    // narrowed by its type
    if (event.type !== 'score_update') throw new Error('expected a score_update')
    expect(event.data.event_payload.experian_gain).toBe(12)
    expect(event.data.created_at).toBe('2026-04-24 15:04:05')
    expect(event).toEqual(update)
  })

  it('is what the public library takes, and takes what the public library signs', async () => {
    const { body, headers } = await signed(update)
    expect(new Webhook(secret).verify(body, headers)).toMatchObject({ type: 'score_update' })
    const now = new Date()
    const signature = new Webhook(secret).sign('msg_1', now, body)
    const seconds = String(Math.floor(now.getTime() / 1000))
    const theirs = { 'webhook-id': 'msg_1', 'webhook-timestamp': seconds, 'webhook-signature': signature }
    await expect(webhooks.unwrap(body, theirs)).resolves.toMatchObject({ type: 'score_update' })
  })

  it.each(signatureVectors.vectors)(
    'is taken or refused as its test vector says: $name',
    async ({ refused, ...vector }) => {
      const toleranceSeconds = Date.now() / 1000 - signatureVectors.now + 300
      const one = new Webhooks({ secrets: vector.secret, toleranceSeconds })
      const answer = await one.unwrap(vector.body, vector.headers).catch((error: unknown) => error)
      expect(answer).toMatchObject(refused === null ? { type: 'mortgage_ready' } : { reason: refused })
    },
  )

  it('is accepted with either secret during a rotation', async () => {
    const both = new Webhooks({ secrets: [secret, former] })
    for (const by of [secret, former]) {
      const { body, headers } = await signed(update, by)
      await expect(both.unwrap(body, headers)).resolves.toEqual(update)
    }
    const { body, headers } = await signed(update, former)
    const signatures = `v1a,x v1,no base64! ${headers['webhook-signature']}`
    await expect(both.unwrap(body, { ...headers, 'webhook-signature': signatures })).resolves.toEqual(update)
  })

  it.each([
    ['headers', 'lacks one of webhook-id', (request: GenuineRequest) => [request.body, {}]],
    [
      'signature',
      'another secret, or a changed body',
      ({ body, headers }: GenuineRequest) => [`${body} `, headers],
    ],
    ['signature', 'another secret', async () => Object.values(await signed(update, former)).toReversed()],
    ['too_old', 'older than 300 s', () => at(-301)],
    ['too_new', 'check this computer’s clock', () => at(310)],
    [
      'too_old',
      'older',
      ({ body, headers }: GenuineRequest) => [body, { ...headers, 'webhook-timestamp': 'x' }],
    ],
    [
      'parsed_body',
      'before express.json()',
      ({ body, headers }: GenuineRequest) => [JSON.parse(body), headers],
    ],
  ])('is refused, and says why: %s, %s', async (reason, message, change) => {
    const [body, headers] = (await change(await signed(update))) as [string, Record<string, string>]
    const refusal = await webhooks.unwrap(body, headers).catch((error: unknown) => error)
    expect(refusal).toMatchObject({ name: 'WebhookVerificationError', reason })
    expect(String(refusal)).toContain(message)
  })

  it('needs a valid secret', async () => {
    for (const none of ['', 'whsec_', 'whsec_***', 'secret'])
      expect(() => new Webhooks({ secrets: none })).toThrow('the whsec_… that set-endpoint showed')
    const { body, headers } = await signed(update)
    await expect(new Webhooks({ secrets: [] }).unwrap(body, headers)).rejects.toThrow('pass webhookSecrets')
  })
})

describe('the fixtures', () => {
  it('are a journey in its order, and one event of each type', async () => {
    const { length } = fixtures.journey()
    expect(fixtures.journey({ leadId: 3 }).map(({ data }) => data.sequence)).toEqual(
      Array.from({ length }, (_, index) => index + 1),
    )
    expect(new Set(fixtures.journey().map(({ data }) => data.event_id)).size).toBe(length)
    const types = fixtures.events().map(({ type }) => type)
    expect(new Set(types).size).toBe(types.length)
    for (const event of fixtures.events()) {
      const { body, headers } = await signed(event)
      expect(await webhooks.unwrap(body, headers)).toEqual(event)
    }
  })
})

type Serve = (options: ReceiverOptions<void>) => Promise<string>

const frameworks: Record<string, Serve> = {
  'Node’s http': (options) => listen(createServer(webhooks.node(options) as unknown as RequestListener)),
  Express: (options) => {
    const app = express()
    app.post('/webhooks', webhooks.node(options))
    // of the application’s other routes
    app.use(express.json())
    return listen(createServer(app))
  },
  'Express with a raw body': (options) => {
    const app = express()
    app.use(express.raw({ type: 'application/json' }))
    app.post('/webhooks', webhooks.node(options))
    return listen(createServer(app))
  },
  Fastify: async (options) => {
    const app = Fastify()
    const receive = webhooks.receiver(options)
    await app.register(async (own) => {
      own.removeContentTypeParser('application/json')
      own.addContentTypeParser('application/json', { parseAs: 'buffer' }, (_, body, done) => done(null, body))
      own.post('/webhooks', async ({ body, headers }, reply) =>
        reply.code(await receive((body ?? '') as Buffer, headers)).send(),
      )
    })
    app.post('/other', (request) => request.body)
    atEnd(() => app.close())
    return `${await app.listen({ port: 0, host: '127.0.0.1' })}/webhooks`
  },
  'Request and Response': (options) => serveRequests(webhooks.fetch(options)),
}

function serveRequests(
  handle: (request: Request) => Promise<Response>,
  before: (request: Request) => Promise<unknown> = async () => {},
): Promise<string> {
  const serve = async (incoming: IncomingMessage, response: ServerResponse) => {
    const headers = new Headers(incoming.headers as Record<string, string>)
    const body = incoming as unknown as ReadableStream
    const init = { method: 'POST', headers, body, duplex: 'half' } as RequestInit
    const request = new Request('http://lender.example/webhooks', init)
    await before(request)
    response.writeHead((await handle(request)).status).end()
  }
  return listen(createServer((incoming, response) => void serve(incoming, response)))
}

/** Servers that parse the body before the receiver gets it. */
const parsers: Record<string, { remedy: string; serve: Serve }> = {
  'Node’s http': {
    remedy: 'read the raw body first',
    serve: (options) => {
      const handle = webhooks.node(options) as unknown as RequestListener
      return listen(
        createServer((request, response) => void json(request).then(() => handle(request, response))),
      )
    },
  },
  Express: {
    remedy: 'put the webhook route before express.json()',
    serve: (options) => {
      const app = express()
      app.use(express.json())
      app.post('/webhooks', webhooks.node(options))
      return listen(createServer(app))
    },
  },
  'Request and Response': {
    remedy: 'await request.text()',
    serve: (options) => serveRequests(webhooks.fetch(options), (request) => request.json()),
  },
}

describe.each(Object.entries(frameworks))('a receiver with %s', (_name, serve) => {
  it('handles each webhook once, and again if its handler failed', async () => {
    const handled: string[] = []
    let fails = true
    const url = await serve({
      on: {
        score_update: ({ data }) => {
          if (fails) throw new Error('the database is away')
          handled.push(data.event_id)
        },
      },
      onError: () => {},
    })
    const request = await signed(update)
    expect(await post(url, request)).toBe(500)
    fails = false
    expect(await post(url, request)).toBe(200)
    expect(await post(url, await signed(update))).toBe(200)
    expect(handled).toEqual([update?.data.event_id])
  })

  it('refuses what is no genuine webhook, and takes what it has no handler for', async () => {
    const others: string[] = []
    const url = await serve({ onEvent: ({ type, data }) => void others.push(`${type} ${data.lead_id}`) })
    const request = await signed(received)
    const { headers } = request
    const withSignature = (of: string) => ({ ...request, headers: { ...headers, 'webhook-signature': of } })
    const noEvents = ['null', '[]', '{', '{"type":1}', Buffer.from([0x22, 0xff, 0x22])]
    const foreign = [
      { ...request, body: '{}' },
      { ...request, body: new Uint8Array(1_200_000) },
      { headers: {}, body: '' },
      ...['v1', ',', 'v1,a,b', 'v1,\xe9', '\xe9'].map(withSignature),
      ...(await Promise.all(noEvents.map(genuine))),
    ]
    for (const each of foreign) expect(Math.floor((await post(url, each)) / 100)).toBe(4)
    expect(others).toEqual([])
    for (const event of fixtures.events()) expect(await post(url, await signed(event))).toBe(200)
    const data = { lead_id: 9 }
    const later = { type: 'home_bought', timestamp: '2026-11-21T10:00:00Z' }
    for (const some of [data, null, 'x'])
      expect(await post(url, await genuine(JSON.stringify({ ...later, data: some })))).toBe(200)
    const known = fixtures.journey().map(({ type }) => `${type} 1`)
    expect(others).toEqual([...new Set(known), 'home_bought 9'])
  })
})

describe('a receiver', () => {
  it('handles a webhook that is repeated while its handler runs only once', async () => {
    const { promise, resolve } = Promise.withResolvers<void>()
    const begun: string[] = []
    const receive = webhooks.receiver({
      onEvent: ({ type }) => {
        begun.push(type)
        return promise
      },
    })
    const { body, headers } = await signed(received)
    const running = [receive(body, headers), receive(body, headers)]
    while (begun.length === 0) await new Promise(setImmediate)
    resolve()
    expect([await Promise.all(running), begun.length]).toEqual([[200, 200], 1])
  })

  it('remembers and writes in one transaction with SQLite, as its README says', async () => {
    const database = new DatabaseSync(':memory:')
    database.exec('create table webhooks_seen (id text primary key); create table rows (id text)')
    const fails = new Set(['2'])
    const receive = webhooks.receiver({
      seen: seenOfReadme<DatabaseSync>('DatabaseSync', database),
      onEvent: async ({ data }, tables) => {
        tables.prepare('insert into rows values (?)').run(data.event_id)
        await new Promise(setImmediate)
        if (fails.delete(String(data.lead_id))) throw new Error('half way')
      },
      onError: () => {},
    })
    const statuses = async () => {
      const firsts = [1, 2, 3].map((leadId) => fixtures.journey({ leadId })[0])
      const requests = await Promise.all(firsts.map((event) => signed(event)))
      return Promise.all(requests.map(({ body, headers }) => receive(body, headers)))
    }
    const count = () => database.prepare('select count(*) as rows from rows').get()
    expect([await statuses(), count()]).toEqual([[200, 500, 200], { rows: 2 }])
    expect([await statuses(), count()]).toEqual([[200, 200, 200], { rows: 3 }])
  })

  it.each(Object.entries(parsers))(
    'says how to mend a body that was parsed before: %s',
    async (_name, parser) => {
      const { remedy, serve } = parser
      const errors: unknown[] = []
      const url = await serve({ on: {}, onError: (error) => errors.push(error) })
      expect(await post(url, await signed(update))).toBe(500)
      expect(errors).toMatchObject([{ reason: 'parsed_body' }])
      expect(String(errors[0])).toContain(remedy)
    },
  )
})

async function listen(server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  atEnd(async () => void server.close())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/webhooks`
}

async function post(url: string, request: RequestInit): Promise<number> {
  return (await fetch(url, { method: 'POST', ...request })).status
}

/** A body that the client’s types don’t know. */
async function genuine(body: string | Buffer<ArrayBuffer>) {
  const id = `msg_${randomUUID()}`
  const timestamp = String(Math.floor(Date.now() / 1000))
  const signature = await signatureOf({ id, timestamp, body: Buffer.from(body) }, secret)
  return {
    body,
    headers: {
      'content-type': 'application/json',
      'webhook-id': id,
      'webhook-timestamp': timestamp,
      'webhook-signature': signature,
    },
  }
}

async function at(seconds: number) {
  const { body, headers } = await fixtures.request(update!, secret, new Date(Date.now() + seconds * 1000))
  return [body, headers]
}
