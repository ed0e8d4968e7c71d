import { lookup, promises } from 'node:dns'
import { beforeEach, describe, expect, test } from '@jest/globals'
import { Agent, request } from 'undici'
import { guardedConnector, resolverLookup } from '../../src/webhooks/address-guard.ts'
import { createSender } from '../../src/webhooks/send.ts'
import { type Answers, startDnsServer } from './dns-server.ts'
import { startReceiver } from './receiver.ts'

/** Unassigned by IANA, so public by the rules and yet nobody's: what is sent there reaches no one. */
const PUBLIC_NOWHERE = '2e00::1'

/** What an attacker wants to reach: whatever touches it is counted. */
let canary: Awaited<ReturnType<typeof startReceiver>>

beforeEach(async () => {
  canary = await startReceiver((_request, response) => response.end('internal data'))
})

describe('a literal address', () => {
  test.each([
    '127.0.0.1',
    '127.1',
    '0x7f000001',
    '2130706433',
    '0177.0.0.1',
    '[::1]',
    '[::ffff:127.0.0.1]',
    '0.0.0.0',
  ])('is checked when connecting although Node looks up none: %s', async (host) => {
    const dispatcher = new Agent({
      connect: guardedConnector({
        allowPrivateNetwork: false,
        lookup,
        timeoutMs: 5000,
      }),
    })
    const call = request(`http://${host}:${canary.port}/`, { dispatcher })
    await expect(call).rejects.toThrow('not public')
    await dispatcher.close()
    expect(canary.counts.connections).toBe(0)
  })
})

describe('a name whose server is hostile', () => {
  test('that answers public first and private next gets nothing from inside', async () => {
    const { outcomes, questions } = await attempts(2, ({ type, before }) => {
      if (before === 0) return type === 'AAAA' ? [PUBLIC_NOWHERE] : []
      return type === 'A' ? ['127.0.0.1'] : []
    })
    expect(outcomes[0]?.errorCode).toMatch(/^(?:unreachable|timeout)$/)
    expect(outcomes[0]?.address ?? PUBLIC_NOWHERE).toBe(PUBLIC_NOWHERE)
    expect(outcomes[1]).toMatchObject({ ok: false, errorCode: 'blocked_address', address: '127.0.0.1' })
    // One question for each connection: there is no second one between check and use to lie to.
    expect(questions.filter(({ type }) => type === 'A')).toHaveLength(2)
    expect(canary.counts.connections).toBe(0)
  })

  test.each([
    ['last', ['203.0.114.1', '127.0.0.1']],
    ['first', ['127.0.0.1', '203.0.114.1']],
    ['in the middle', ['203.0.114.1', '10.0.0.1', '203.0.114.2']],
  ])('is refused for one private address among several: %s', async (_, addresses) => {
    const { outcomes } = await attempts(1, ({ type }) => (type === 'A' ? addresses : []))
    expect(outcomes[0]?.errorCode).toBe('blocked_address')
    expect(canary.counts.connections).toBe(0)
  })

  test('is refused for a private IPv6 address beside a public IPv4 address', async () => {
    const { outcomes } = await attempts(1, ({ type }) =>
      type === 'A' ? ['203.0.114.1'] : ['::ffff:127.0.0.1'],
    )
    expect(outcomes[0]?.errorCode).toBe('blocked_address')
    expect(canary.counts.connections).toBe(0)
  })
})

describe('a name that cannot be looked up', () => {
  test.each([
    ['has no address', []],
    ['has a server that fails', 'SERVFAIL'],
    ['has a server that never answers', 'silence'],
  ] as const)('because it %s is a dns_error and reaches nothing', async (_, answer) => {
    const options = answer === 'silence' ? { answerMs: 100 } : {}
    const { outcomes } = await attempts(1, () => (typeof answer === 'string' ? answer : [...answer]), options)
    expect(outcomes[0]).toMatchObject({
      errorCode: 'dns_error',
      hint: expect.stringContaining('DNS records'),
    })
    expect(canary.counts.connections).toBe(0)
  })

  test('in IPv6 only is still reached in IPv4', async () => {
    const { outcomes } = await attempts(1, ({ type }) => (type === 'A' ? ['127.0.0.1'] : 'SERVFAIL'), {
      allowPrivateNetwork: true,
    })
    expect(outcomes[0]).toMatchObject({ ok: true, address: '127.0.0.1', responseBody: 'internal data' })
  })
})

test.each([
  ['A', ['169.254.169.254']],
  ['A', ['127.0.0.1', '169.254.169.254']],
  ['A', ['0.0.0.0']],
  ['AAAA', ['::ffff:169.254.169.254']],
  ['AAAA', ['fd00:ec2::254']],
  ['AAAA', ['fe80::1']],
] as const)(
  'a link-local, metadata or unspecified address is not reached where the private network is allowed: %s %j',
  async (type, addresses) => {
    const { outcomes } = await attempts(1, (asked) => (asked.type === type ? [...addresses] : []), {
      allowPrivateNetwork: true,
    })
    expect(outcomes[0]).toMatchObject({ ok: false, errorCode: 'blocked_address' })
    expect(canary.counts.connections).toBe(0)
  },
)

test.each(['169.254.169.254', '[::ffff:a9fe:a9fe]', '[fd00:ec2::254]', '0.0.0.0', '[64:ff9b::7f00:1]'])(
  'nor is it as a literal address: %s',
  async (host) => {
    const connect = guardedConnector({ allowPrivateNetwork: true, lookup, timeoutMs: 5000 })
    const dispatcher = new Agent({ connect })
    await expect(request(`http://${host}:${canary.port}/`, { dispatcher })).rejects.toThrow('not public')
    await dispatcher.close()
    expect(canary.counts.connections).toBe(0)
  },
)

/** Sends to the canary's port under a name that the given answers resolve. */
async function attempts(
  count: number,
  answers: Answers,
  { allowPrivateNetwork = false, answerMs = 5000 }: { allowPrivateNetwork?: boolean; answerMs?: number } = {},
) {
  const dns = await startDnsServer(answers)
  const resolver = new promises.Resolver({ timeout: answerMs, tries: 1 })
  resolver.setServers([dns.server])
  const sender = createSender({
    environment: 'sandbox',
    allowPrivateNetwork,
    lookup: resolverLookup(resolver),
  })
  const url = `http://hooks.rebinding.test:${canary.port}/hook`
  const outcomes = []
  for (let attempt = 0; attempt < count; attempt++)
    outcomes.push(await sender.send({ url, headers: {}, body: '{}' }))
  await sender.close()
  await dns.close()
  return { outcomes, questions: dns.questions }
}
