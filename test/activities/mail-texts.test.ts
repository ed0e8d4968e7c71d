import { describe, expect, it } from '@jest/globals'
import * as fc from 'fast-check'
import { nameInMail } from '../../activities/mail-texts.ts'

const shown = (text: string) => nameInMail(text, 'there')

describe('a partner’s text in a mail', () => {
  it.each([
    'María José',
    'O’Neill',
    'Anne-Marie',
    'J. R.',
    '王小明',
    'Gal·la',
    'ジョン・スミス',
    'First Lender, Inc.',
    'Smith & Sons',
    'Bank 360',
  ])('stays as it is if it is a name: %s', (name) => {
    expect(shown(name)).toBe(name.normalize('NFKC'))
  })

  it.each([
    ['Ada https://evil.example/win', 'Ada'],
    ['Ada evil。example', 'Ada'],
    ['Ada ev\u200Bil\u200B.\u200Bexample', 'Ada'],
    ['mallory＠evil', 'there'],
    ['ℂall tel:+15550100', 'Call'],
    ['Ada\r\nBcc: mallory', 'Ada mallory'],
    ['Ada\u202Eelpmaxe', 'Adaelpmaxe'],
    ['Call 1-800-555-0100', 'Call'],
    ['Ada 1234 Miller', 'Ada 1234 Miller'],
    ['<b>Ada</b>', 'there'],
    ['J.R.', 'J. R.'],
    ['', 'there'],
    ['\uD800', 'there'],
    ['ᅠㅤ', 'there'],
  ])('of %j is %j', (text, expected) => {
    expect(shown(text)).toBe(expected)
  })

  const piece = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 20 }),
    fc.string({ unit: 'grapheme', maxLength: 20 }),
    fc.webUrl(),
    fc.domain(),
    fc.emailAddress(),
    fc.ipV4(),
    fc.constantFrom(...Array.from('.。．｡․@＠/／:： \r\n\u200B\u202E\u00AD'), 'www'),
  )
  const hostile = fc.array(piece, { maxLength: 8 }).map((pieces) => pieces.join(''))

  it('is one line of what can be seen, of which no mail program makes a link, whatever was sent', () => {
    fc.assert(
      fc.property(hostile, (text) => {
        const name = shown(text)
        // no scheme, path or address
        expect(name).not.toMatch(/[@:/\\<>"`#?=%+_~()[\]{}|^$*!;]/u)
        // no domain or IP address: after a dot comes a space
        expect(name).not.toMatch(/\.\S|[。．｡․]/u)
        expect(name.match(/\p{N}/gu)?.length ?? 0).toBeLessThan(5)
        expect(name).not.toMatch(/[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]|\s{2}/u)
        expect(name).toBe(name.trim())
        expect(name).toMatch(/\p{L}/u)
        expect(Array.from(name).length).toBeLessThanOrEqual(60)
      }),
      { numRuns: 2000 },
    )
  })
})
