import { describe, expect, test } from '@jest/globals'
import { checkEndpointUrl } from '../../src/webhooks/endpoint-url.ts'
import { blockedHosts, metadataHosts, publicHosts } from './spellings.ts'

const production = { environment: 'production', allowPrivateNetwork: false } as const
const sandbox = { environment: 'sandbox', allowPrivateNetwork: false } as const
const localSandbox = { environment: 'sandbox', allowPrivateNetwork: true } as const

describe('a URL that leads to an address which is not public', () => {
  test('is tried in at least 60 spellings', () => {
    expect(new Set(blockedHosts).size).toBeGreaterThanOrEqual(60)
  })

  test.each(blockedHosts)('is refused everywhere: %s', (host) => {
    expect(checkEndpointUrl(`https://${host}/hook`, production)).not.toBeNull()
    expect(checkEndpointUrl(`http://${host}:8080/hook`, sandbox)).not.toBeNull()
  })

  test('is allowed on a private network, for one machine and its tests', () => {
    for (const host of ['127.0.0.1', '[::1]', 'localhost', '10.0.0.8']) {
      expect(checkEndpointUrl(`http://${host}:8080/hook`, localSandbox)).toBeNull()
    }
  })
})

describe('on a private network, a URL', () => {
  test.each(metadataHosts)('never leads to a link-local or metadata address, or to none: %s', (host) => {
    expect(checkEndpointUrl(`http://${host}/latest/meta-data`, localSandbox)).toMatchObject({
      errorCode: expect.stringMatching(/^(blocked_address|invalid_url)$/),
    })
  })
})

test.each(publicHosts)('a URL that leads to the public internet is accepted: %s', (host) => {
  expect(checkEndpointUrl(`https://${host}/hook?source=referrals`, production)).toBeNull()
})

test.each([
  ['plain http', 'http://hooks.example.com/', 'must use https'],
  ['another port', 'https://hooks.example.com:8080/', '443 or 8443'],
  ['the port of a mail server', 'https://hooks.example.com:25/', '443 or 8443'],
  ['a user name', 'https://me@hooks.example.com/', 'user name'],
  ['a password', 'https://:secret@hooks.example.com/', 'user name or password'],
  ['another host before the @', 'https://hooks.example.com@127.0.0.1/', 'user name'],
  ['a fragment', 'https://hooks.example.com/#part', 'fragment'],
  ['an empty fragment', 'https://hooks.example.com/#', 'fragment'],
  ['another scheme', 'ftp://hooks.example.com/', 'https://'],
  ['a file', 'file:///etc/passwd', 'https://'],
  ['a script', 'javascript:alert(1)', 'https://'],
  ['no scheme', 'hooks.example.com', 'absolute'],
  ['no host', 'https://', 'absolute'],
  ['one slash', 'https:/hooks.example.com/', 'https://'],
  ['three slashes', 'https:///hooks.example.com/', 'https://'],
  ['nothing', '', 'absolute'],
  ['a space in front', ' https://hooks.example.com/', 'space'],
  ['a line break inside', 'https://hooks.exam\nple.com/', 'control'],
  ['a backslash', 'https:\\\\hooks.example.com/', 'backslash'],
  ['more than 2048 characters', `https://hooks.example.com/${'a'.repeat(2048)}`, 'longer'],
])('production refuses a URL with %s and says why', (_, url, reason) => {
  expect(checkEndpointUrl(url, production)).toEqual({
    errorCode: 'invalid_url',
    hint: expect.stringContaining(reason),
  })
})

test('production accepts ports 443 and 8443, the sandbox http and any port', () => {
  expect(checkEndpointUrl('https://hooks.example.com:443/', production)).toBeNull()
  expect(checkEndpointUrl('https://hooks.example.com:8443/', production)).toBeNull()
  expect(checkEndpointUrl('http://hooks.example.com:8080/', sandbox)).toBeNull()
})

test('the sandbox still refuses credentials and fragments', () => {
  expect(checkEndpointUrl('http://me:pw@hooks.example.com/', localSandbox)).not.toBeNull()
  expect(checkEndpointUrl('http://hooks.example.com/#a', localSandbox)).not.toBeNull()
})
