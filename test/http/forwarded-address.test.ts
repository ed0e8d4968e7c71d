import { expect, it } from '@jest/globals'
import { withoutPort } from '../../src/http/http-server.ts'

it.each([
  ['203.0.113.7', '203.0.113.7'],
  ['203.0.113.7:50123', '203.0.113.7'],
  ['[2001:db8::1]:443', '2001:db8::1'],
  ['[::ffff:203.0.113.7]:443', '::ffff:203.0.113.7'],
  ['2001:db8::1', '2001:db8::1'],
  ['::1:443', '::1:443'],
  ['unknown', 'unknown'],
  ['lender.example:443', 'lender.example:443'],
  ['', ''],
])('%j is the address %j', (forwarded, address) => {
  expect(withoutPort(forwarded)).toBe(address)
})
