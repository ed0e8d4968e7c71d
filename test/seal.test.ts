import { randomBytes } from 'node:crypto'
import { describe, expect, test } from '@jest/globals'
import * as fc from 'fast-check'
import { open, type Place, seal, SealError } from '../src/seal.ts'

const key = randomBytes(32)
const HERE: Place = 'leads:7:notes'
const TEXT = 'Ada lost her job, and 555-0100 is her sister’s number'

describe('a sealed value', () => {
  test('opens to what was sealed, whatever the text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (text) => {
        expect(open(seal(text, HERE, [key]), HERE, [key])).toBe(text)
      }),
    )
  })

  test('never shows the text, and has a nonce of its own, however many are sealed', () => {
    const nonces = Array.from({ length: 1000 }, () => {
      const bytes = Buffer.from(seal(TEXT, HERE, [key]).split('.')[2] ?? '', 'base64url')
      expect(bytes.includes('555-0100')).toBe(false)
      return bytes.subarray(0, 12).toString('hex')
    })
    expect(new Set(nonces).size).toBe(1000)
  })

  test('still opens after a new key was put first, and new ones are sealed with the new key', () => {
    const newer = randomBytes(32)
    const old = seal('old', HERE, [key])
    const recent = seal('recent', HERE, [newer, key])
    expect(open(old, HERE, [newer, key])).toBe('old')
    expect(open(recent, HERE, [newer])).toBe('recent')
    expect(() => open(recent, HERE, [key])).toThrow(
      /^ENCRYPTION_KEY lacks the key [0-9a-f]{8}: add it after the current one, separated by a comma$/,
    )
  })

  test('does not open after any change to its text, and the error holds nothing of it', () => {
    const text = seal(TEXT, HERE, [key])
    fc.assert(
      fc.property(fc.nat({ max: text.length - 1 }), fc.integer({ min: 1, max: 127 }), (index, flip) => {
        const changed = `${text.slice(0, index)}${String.fromCharCode(text.charCodeAt(index) ^ flip)}${text.slice(index + 1)}`
        // Other letters for the same bytes are no change: base64url may end in bits without a meaning.
        fc.pre(!sameBytes(changed, text))
        const error = thrownBy(() => open(changed, HERE, [key]))
        expect(error).toBeInstanceOf(SealError)
        expect(error.message).not.toContain('555-0100')
        expect(error.message).not.toContain(text.slice(12))
        expect(error.cause).toBeUndefined()
      }),
      { numRuns: 1000 },
    )
  })

  test.each<Place>([
    'leads:8:notes',
    'leads:7:personal',
    'leads:7:metadata.notes',
    'endpoint_secrets:7:notes',
  ])('does not open at another place: %s', (place) => {
    expect(() => open(seal(TEXT, HERE, [key]), place, [key])).toThrow(
      /^a stored value under the key [0-9a-f]{8} was changed, moved or damaged$/,
    )
  })

  test('is nothing that is not sealed', () => {
    expect(() => open(TEXT, HERE, [key])).toThrow('a stored value is not encrypted')
  })

  test('cannot be made without a key', () => {
    expect(() => seal('x', HERE, [])).toThrow('ENCRYPTION_KEY is not set')
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
