import { randomBytes } from 'node:crypto'
import { describe, expect, test } from '@jest/globals'
import * as fc from 'fast-check'
import { decryptSecret, encryptSecret, generateSecret, SecretError } from '../../src/webhooks/secrets.ts'

const key = randomBytes(32)

test('a new secret is whsec_ and 32 random bytes in base64', () => {
  const secrets = Array.from({ length: 100 }, generateSecret)
  expect(new Set(secrets).size).toBe(100)
  for (const secret of secrets) {
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/)
    expect(Buffer.from(secret.slice(6), 'base64')).toHaveLength(32)
  }
})

describe('a stored secret', () => {
  test('opens to what was sealed, whatever the text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (secret) => {
        expect(decryptSecret(encryptSecret(secret, [key]), [key])).toBe(secret)
      }),
    )
  })

  test('never looks the same twice and never shows the secret', () => {
    const secret = generateSecret()
    const [first, second] = [encryptSecret(secret, [key]), encryptSecret(secret, [key])]
    expect(first).not.toBe(second)
    expect(Buffer.from(first.split('.')[2] ?? '', 'base64url').includes(secret.slice(6))).toBe(false)
  })

  test('still opens after a new key was put first, and new ones are sealed with the new key', () => {
    const newer = randomBytes(32)
    const old = encryptSecret('whsec_old', [key])
    const recent = encryptSecret('whsec_recent', [newer, key])
    expect(decryptSecret(old, [newer, key])).toBe('whsec_old')
    expect(decryptSecret(recent, [newer])).toBe('whsec_recent')
    expect(() => decryptSecret(recent, [key])).toThrow(/^no encryption key has the id [0-9a-f]{8}$/)
  })

  test('does not open after any change to its text, and the error holds nothing of it', () => {
    const secret = generateSecret()
    const text = encryptSecret(secret, [key])
    fc.assert(
      fc.property(fc.nat({ max: text.length - 1 }), fc.integer({ min: 1, max: 127 }), (index, flip) => {
        const changed = `${text.slice(0, index)}${String.fromCharCode(text.charCodeAt(index) ^ flip)}${text.slice(index + 1)}`
        // Other letters for the same bytes are no change: base64url may end in bits without a meaning.
        fc.pre(!sameBytes(changed, text))
        const error = thrownBy(() => decryptSecret(changed, [key]))
        expect(error).toBeInstanceOf(SecretError)
        expect(error.message).not.toContain(secret)
        expect(error.message).not.toContain(text.slice(12))
        expect(error.cause).toBeUndefined()
      }),
      { numRuns: 1000 },
    )
  })

  test('does not open when it was cut short', () => {
    const text = encryptSecret(generateSecret(), [key])
    for (let length = 0; length < text.length; length++) {
      expect(() => decryptSecret(text.slice(0, length), [key])).toThrow(SecretError)
    }
  })

  test('cannot be made without a key', () => {
    expect(() => encryptSecret('whsec_x', [])).toThrow('there is no encryption key')
  })
})

function sameBytes(left: string, right: string): boolean {
  const bytes = (text: string) => Buffer.from(text.slice(12), 'base64url')
  return (
    left.slice(0, 12) === right.slice(0, 12) &&
    /^[\w-]+$/.test(left.slice(12)) &&
    bytes(left).equals(bytes(right))
  )
}

function thrownBy(work: () => unknown): Error {
  try {
    work()
  } catch (error) {
    return error as Error
  }
  throw new Error('nothing was thrown')
}
