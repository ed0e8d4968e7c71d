import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { createSender } from '../../src/webhooks/send.ts'
import { type Certificate, makeCertificate } from './certificate.ts'
import { startRawReceiver, startReceiver } from './receiver.ts'

const run = promisify(execFile)
const authority = makeCertificate({ host: 'Test Authority', isAuthority: true })
const known = getCACertificates('default')
const sender = createSender({ environment: 'sandbox', allowPrivateNetwork: true })

beforeAll(() => setDefaultCACertificates([...known, authority.cert]))
afterAll(async () => {
  setDefaultCACertificates(known)
  await sender.close()
})

async function attempt(certificate: Certificate, options: object = {}) {
  const receiver = await startReceiver((_request, response) => response.end(), { ...certificate, ...options })
  const outcome = await sender.send({ url: receiver.url, headers: {}, body: '{}' })
  return { outcome, received: receiver.received }
}

describe('over TLS', () => {
  test('a webhook reaches an endpoint with a certificate that is in order', async () => {
    const { outcome, received } = await attempt(makeCertificate({ host: 'localhost', issuer: authority }))
    expect(outcome).toMatchObject({ ok: true, errorCode: null })
    expect(received).toHaveLength(1)
  })

  test.each([
    ['has expired', { host: 'localhost', issuer: authority, from: -9, until: -1 }, 'expired'],
    ['is not valid yet', { host: 'localhost', issuer: authority, from: 1, until: 9 }, 'cert not yet valid'],
    ['is for another host', { host: 'other.example.com', issuer: authority }, 'altname invalid'],
    ['is self-signed', { host: 'localhost' }, 'self signed'],
    [
      'is from an unknown authority',
      { host: 'localhost', issuer: makeCertificate({ host: 'Nobody', isAuthority: true }) },
      'public authority|full chain',
    ],
  ])('nothing is sent when the certificate %s, and the hint says so', async (_, request, reason) => {
    const { outcome, received } = await attempt(makeCertificate(request))
    expect(outcome).toMatchObject({ ok: false, status: null, errorCode: 'tls_error', responseBody: null })
    expect(outcome.hint).toMatch(new RegExp(reason))
    expect(received).toHaveLength(0)
  })

  test('NODE_TLS_REJECT_UNAUTHORIZED=0 in the environment changes nothing', async () => {
    const { url, received } = await startReceiver(
      (_request, response) => response.end(),
      makeCertificate({ host: 'localhost' }),
    )
    // Node reads it from the real environment, which tests share: so in a process of its own.
    const program = `
      import { createSender } from '${new URL('../../src/webhooks/send.ts', import.meta.url).href}'
      const sender = createSender({ environment: 'sandbox', allowPrivateNetwork: true })
      console.log((await sender.send({ url: '${url}', headers: {}, body: '{}' })).errorCode)
      await sender.close()`
    const env = { ...process.env, NODE_TLS_REJECT_UNAUTHORIZED: '0', NODE_OPTIONS: '' }
    const { stdout } = await run(process.execPath, ['--input-type=module', '--eval', program], { env })
    expect(stdout.trim()).toBe('tls_error')
    expect(received).toHaveLength(0)
  })

  test.each(['TLSv1', 'TLSv1.1'])('nothing is sent to an endpoint that speaks only %s', async (version) => {
    const weak = { minVersion: version, maxVersion: version, ciphers: 'DEFAULT@SECLEVEL=0' }
    const { outcome, received } = await attempt(
      makeCertificate({ host: 'localhost', issuer: authority }),
      weak,
    )
    expect(outcome).toMatchObject({ errorCode: 'tls_error', hint: expect.stringContaining('TLS 1.2') })
    expect(received).toHaveLength(0)
  })

  test('a port that speaks plain HTTP is a tls_error', async () => {
    const plain = await startReceiver((_request, response) => response.end())
    const outcome = await sender.send({ url: plain.url.replace('http:', 'https:'), headers: {}, body: '{}' })
    expect(outcome).toMatchObject({ errorCode: 'tls_error', hint: expect.stringContaining('TLS') })
  })

  test('an endpoint that hangs up within the handshake is a tls_error', async () => {
    const raw = await startRawReceiver((socket) => socket.end())
    const outcome = await sender.send({ url: raw.url.replace('http:', 'https:'), headers: {}, body: '{}' })
    expect(outcome).toMatchObject({ errorCode: 'tls_error' })
  })
})
