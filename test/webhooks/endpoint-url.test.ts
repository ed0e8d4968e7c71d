import { expect, test } from '@jest/globals'
import { checkEndpointUrl } from '../../src/webhooks/endpoint-url.ts'

/** Names, and spellings of IPv6: the property tests of public-address.test.ts have the rest. */
const blockedHosts = words(`
  %31%32%37.0.0.1 １２７.０.０.１ localhost LOCALHOST. api.localhost ⓛocalhost [::FFFF:7F00:0001] [fc00::1] [fec0::1]
  [fd00:ec2::254] 168.63.129.16 [2001:db8::1] [ff02::1] [100::1] [4000::1] 127.0.0.256 1.2.3.4.5 [::1 [::1%25eth0]
  127.0.0.1%00.example.com exa%mple.com`)
const publicHosts = words(`
  example.com hooks.example.com:8443 mylocalhost 127.0.0.1.example.com xn--bcher-kva.example 1.1.1.1 172.32.0.0
  134744072 [2606:4700:4700::1111] [::ffff:8.8.8.8]`)

function words(text: string): string[] {
  return text.trim().split(/\s+/)
}

const production = { environment: 'production', allowPrivateNetwork: false } as const
const sandbox = { environment: 'sandbox', allowPrivateNetwork: false } as const
const localSandbox = { environment: 'sandbox', allowPrivateNetwork: true } as const

test.each(blockedHosts)('a URL that leads to an address which is not public is refused: %s', (host) => {
  expect(checkEndpointUrl(`https://${host}/hook`, production)).not.toBeNull()
  expect(checkEndpointUrl(`http://${host}:8080/hook`, sandbox)).not.toBeNull()
})

test('a private network has loopback and private addresses, and no metadata service', () => {
  for (const host of ['127.0.0.1', '[::1]', 'localhost', '10.0.0.8'])
    expect(checkEndpointUrl(`http://${host}:8080/hook`, localSandbox)).toBeNull()
  for (const host of ['169.254.169.254', '[fd00:ec2::254]', '168.63.129.16'])
    expect(checkEndpointUrl(`http://${host}/`, localSandbox)?.errorCode).toBe('blocked_address')
})

test.each(publicHosts)('a URL that leads to the public internet is accepted: %s', (host) => {
  expect(checkEndpointUrl(`https://${host}/hook?source=referrals`, production)).toBeNull()
})

test.each([
  ['plain http', 'http://hooks.example.com/', 'must use https'],
  ['another port', 'https://hooks.example.com:8080/', '443 or 8443'],
  ['a user name', 'https://me@hooks.example.com/', 'user name'],
  ['another host before the @', 'https://hooks.example.com@127.0.0.1/', 'user name'],
  ['an empty fragment', 'https://hooks.example.com/#', 'fragment'],
  ['another scheme', 'ftp://hooks.example.com/', 'https://'],
  ['no scheme', 'hooks.example.com', 'absolute'],
  ['one slash', 'https:/hooks.example.com/', 'https://'],
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
