import { expect, test } from '@jest/globals'
import { checkEndpointUrl } from '../../src/webhooks/endpoint-url.ts'

/** One of each kind of spelling and each block of addresses: the property tests of public-address.test.ts have the rest. */
const blockedHosts = words(`
  127.0.0.1 127.1 2130706433 0177.0.0.1 0x7f.1 %31%32%37.0.0.1 １２７.０.０.１ 127.0.0.1. localhost LOCALHOST. api.localhost
  ⓛocalhost [::1] [0:0:0:0:0:0:0:1] [::] [::ffff:127.0.0.1] [::FFFF:7F00:0001] [::ffff:0:127.0.0.1] [::7f00:1]
  [64:ff9b::808:808] [64:ff9b:1::7f00:1] [2002:7f00:1::] [2001:0:7f00:1::] 10.0.0.1 172.31.255.255 192.168.257 [fc00::1]
  [fec0::1] [fe80::1] 169.254.169.254 0xa9fea9fe [fd00:ec2::254] 100.100.100.200 168.63.129.16 100.64.0.1 0 192.0.0.8
  198.18.0.1 192.0.2.1 [2001:db8::1] 224.0.0.1 255.255.255.255 [ff02::1] [100::1] [4000::1] 127.0.0.256 1.2.3.4.5 [::1
  [::1%25eth0] 127.0.0.1%00.example.com exa%mple.com`)
const publicHosts = words(`
  example.com hooks.example.com:8443 mylocalhost 127.0.0.1.example.com xn--bcher-kva.example 1.1.1.1 9.255.255.255
  100.128.0.0 172.32.0.0 198.20.0.0 223.255.255.255 134744072 [2606:4700:4700::1111] [2003::1] [::ffff:8.8.8.8]`)

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
  for (const host of [
    '169.254.169.254',
    '[fd00:ec2::254]',
    '[::ffff:a9fe:a9fe]',
    '168.63.129.16',
    '[fe80::1]',
  ])
    expect(checkEndpointUrl(`http://${host}/`, localSandbox)?.errorCode).toBe('blocked_address')
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
