import { createHmac } from 'node:crypto'
import { describe, expect, jest, test } from '@jest/globals'
import { Webhook } from 'standardwebhooks'
import { generateSecret, problemOf, signedHeaders } from '../../src/webhooks/signature.ts'
import signatureVectors from '../../docs/signature-vectors.json' with { type: 'json' }

const id = 'evt_1'
const body = '{"type":"contract_signed"}'

describe('the headers of a webhook', () => {
  test('carry the signature that the Standard Webhooks specification defines', () => {
    const key = Buffer.from('0123456789abcdef0123456789abcdef')
    const headers = signedHeaders({
      id,
      body,
      at: new Date('2026-01-02T03:04:05.678Z'),
      secrets: [`whsec_${key.toString('base64')}`],
    })
    const signature = createHmac('sha256', key).update(`evt_1.1767323045.${body}`).digest('base64')
    expect(headers).toEqual({
      'content-type': 'application/json',
      'user-agent': 'partner-referral-service-webhooks/1',
      'webhook-id': 'evt_1',
      'webhook-timestamp': '1767323045',
      'webhook-signature': `v1,${signature}`,
    })
  })

  test('verify under each live secret during a rotation, the oldest first, and under no other', () => {
    const [older, newer, stranger] = [generateSecret(), generateSecret(), generateSecret()]
    const at = new Date()
    const headers = signedHeaders({ id, body, at, secrets: [newer, older] })
    const first = new Webhook(older).sign(id, at, body)
    expect(headers['webhook-signature']).toBe(`${first} ${new Webhook(newer).sign(id, at, body)}`)
    for (const secret of [older, newer])
      expect(new Webhook(secret).verify(body, headers)).toEqual(JSON.parse(body))
    expect(() => new Webhook(stranger).verify(body, headers)).toThrow('No matching signature')
  })

  const { now, vectors } = signatureVectors
  test.each(vectors)(
    'are judged as the test vector says: $name',
    ({ secret, headers, refused, ...vector }) => {
      const clock = jest.spyOn(Date, 'now').mockReturnValue(now * 1000)
      const problem = problemOf([secret], vector.body, headers)
      clock.mockRestore()
      expect(problem === undefined).toBe(refused === null)
      if (refused !== null) return
      const at = new Date(Number(headers['webhook-timestamp']) * 1000)
      const ours = signedHeaders({ id: headers['webhook-id'], body: vector.body, at, secrets: [secret] })
      expect(headers['webhook-signature'].split(' ')).toContain(ours['webhook-signature'])
    },
  )

  test('are refused without a live secret, so that nothing is sent unsigned', () => {
    expect(() => signedHeaders({ id, body, at: new Date(), secrets: [] })).toThrow('no live secret')
  })
})

test('a new secret is whsec_ and 32 random bytes in base64', () => {
  const [one, other] = [generateSecret(), generateSecret()]
  expect(one).not.toBe(other)
  expect(one).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/)
})
