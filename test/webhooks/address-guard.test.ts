import { lookup } from 'node:dns'
import { beforeEach, describe, expect, test } from '@jest/globals'
import { Agent, request } from 'undici'
import { guardedConnector, resolverLookup } from '../../src/webhooks/address-guard.ts'
import { createSender } from '../../src/webhooks/send.ts'
import { startReceiver } from './receiver.ts'

/** Unassigned by IANA, so public by the rules, and yet unreachable. */
const PUBLIC_NOWHERE = '2e00::1'

/** A server that an attacker wants to reach; it counts connections. */
let canary: Awaited<ReturnType<typeof startReceiver>>

beforeEach(async () => {
  canary = await startReceiver((_request, response) => response.end('internal data'))
})

test.each([
  ['127.0.0.1', false],
  ['0177.0.0.1', false],
  ['[::1]', false],
  ['[::ffff:127.0.0.1]', false],
  ['0.0.0.0', true],
  ['169.254.169.254', true],
  ['[::ffff:a9fe:a9fe]', true],
  ['[64:ff9b::7f00:1]', true],
])('a literal address is checked though Node looks up none: %s', async (host, allowPrivateNetwork) => {
  const connect = guardedConnector({ allowPrivateNetwork, lookup, timeoutMs: 5000 })
  const dispatcher = new Agent({ connect })
  await expect(request(`http://${host}:${canary.port}/`, { dispatcher })).rejects.toThrow('not public')
  await dispatcher.close()
  expect(canary.counts.connections).toBe(0)
})

describe('a name whose server is hostile', () => {
  test('that answers public first and private next gets nothing from inside', async () => {
    const { outcomes, questions } = await attempts(2, (type, before) => {
      if (before === 0) return type === 'AAAA' ? [PUBLIC_NOWHERE] : []
      return type === 'A' ? ['127.0.0.1'] : []
    })
    expect(outcomes[0]?.errorCode).toMatch(/^(?:unreachable|timeout)$/)
    expect(outcomes[1]).toMatchObject({ ok: false, errorCode: 'blocked_address' })
    // One DNS query for each connection: no second one, between check and use, can get another answer.
    expect(questions.filter((type) => type === 'A')).toHaveLength(2)
    expect(canary.counts.connections).toBe(0)
  })

  test.each([
    ['last', ['203.0.114.1', '127.0.0.1'], []],
    ['in the middle', ['203.0.114.1', '10.0.0.1', '203.0.114.2'], []],
    ['in IPv6', ['203.0.114.1'], ['::ffff:127.0.0.1']],
  ])('is refused for one private address among several: %s', async (_, v4, v6) => {
    const { outcomes } = await attempts(1, (type) => (type === 'A' ? v4 : v6))
    expect(outcomes[0]?.errorCode).toBe('blocked_address')
    expect(canary.counts.connections).toBe(0)
  })

  test.each([['127.0.0.1', '169.254.169.254'], ['fd00:ec2::254'], ['fe80::1']])(
    'reaches no metadata service and no link-local address where the private network is allowed: %s',
    async (...addresses) => {
      const answers: Answers = (type) => addresses.filter((each) => each.includes(':') === (type === 'AAAA'))
      const { outcomes } = await attempts(1, answers, { allowPrivateNetwork: true })
      expect(outcomes[0]).toMatchObject({ ok: false, errorCode: 'blocked_address' })
      expect(canary.counts.connections).toBe(0)
    },
  )
})

describe('a name that cannot be looked up', () => {
  test.each([
    ['has no address', []],
    ['has a server that fails', 'fails'],
  ] as const)('because it %s is a dns_error and reaches nothing', async (_, answer) => {
    const { outcomes } = await attempts(1, () => (answer === 'fails' ? answer : [...answer]))
    const hint = expect.stringContaining('DNS records')
    expect(outcomes[0]).toMatchObject({ errorCode: 'dns_error', hint })
    expect(canary.counts.connections).toBe(0)
  })

  test('in IPv6 only is still reached in IPv4', async () => {
    const answers: Answers = (type) => (type === 'A' ? ['127.0.0.1'] : 'fails')
    const { outcomes } = await attempts(1, answers, { allowPrivateNetwork: true })
    expect(outcomes[0]).toMatchObject({ ok: true, responseBody: 'internal data' })
  })
})

/** The DNS answer to a query of a type, after `before` earlier ones of that type. */
type Answers = (type: 'A' | 'AAAA', before: number) => string[] | 'fails'

/** Sends to the canary's port under a name that the given answers resolve. */
async function attempts(count: number, answers: Answers, { allowPrivateNetwork = false } = {}) {
  const questions: string[] = []
  const ask = (type: 'A' | 'AAAA') => async () => {
    const answer = answers(type, questions.filter((asked) => asked === type).length)
    questions.push(type)
    if (answer === 'fails') throw new Error('SERVFAIL')
    return answer
  }
  const resolver = { resolve4: ask('A'), resolve6: ask('AAAA') } as unknown as Parameters<
    typeof resolverLookup
  >[0]
  const lookupByIt = resolverLookup(resolver)
  const sender = createSender({ environment: 'sandbox', allowPrivateNetwork, lookup: lookupByIt })
  const url = `http://hooks.rebinding.test:${canary.port}/hook`
  const outcomes = []
  for (let attempt = 0; attempt < count; attempt++)
    outcomes.push(await sender.send({ url, headers: {}, body: '{}' }))
  await sender.close()
  return { outcomes, questions }
}
