import { describe, expect, it } from '@jest/globals'
import { networkOf, withoutPort } from '../src/config.ts'

describe('an address or network', () => {
  it.each([
    ['203.0.113.7', '203.0.113.7'],
    ['203.0.113.7/32', '203.0.113.7'],
    ['203.0.113.0/24', '203.0.113.0/24'],
    ['0.0.0.0/1', '0.0.0.0/1'],
    ['2001:DB8:0:0::/32', '2001:db8::/32'],
    ['2001:db8::1', '2001:db8::1'],
    ['::ffff:203.0.113.7', '203.0.113.7'],
    ['::ffff:203.0.113.0/120', '203.0.113.0/24'],
  ])('%s is kept as %s', (given, kept) => {
    expect(networkOf(given)).toBe(kept)
    expect(networkOf(kept)).toBe(kept)
  })

  it.each([
    ['', 'is neither an IP address nor a network such as 203.0.113.0/24'],
    ['lender.example', 'is neither'],
    ['203.0.113', 'is neither'],
    ['1', 'is neither'],
    ['0x7f.1', 'is neither'],
    ['203.0.113.07', 'is neither'],
    ['203.0.113.0/33', 'is neither'],
    ['203.0.113.0/024', 'is neither'],
    ['203.0.113.0/', 'is neither'],
    ['203.0.113.0/24/24', 'is neither'],
    ['203.0.113.0/255.255.255.0', 'is neither'],
    ['203.0.113.0-203.0.113.9', 'is neither'],
    ['2001:db8::/129', 'is neither'],
    ['fe80::1%eth0', 'is neither'],
    ['*', 'is neither'],
    ['0.0.0.0/0', 'is every address'],
    ['::/0', 'is every address'],
    ['::ffff:0.0.0.0/96', 'is every address'],
    ['203.0.113.7/24', 'use 203.0.113.0/24'],
    ['2001:db8::1/32', 'use 2001:db8::/32'],
    ['::ffff:203.0.113.7/120', 'use 203.0.113.0/24'],
  ])('is not %j', (given, fault) => {
    expect(() => networkOf(given)).toThrow(fault)
  })
})

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
