import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { connect, type ConnectionOptions } from 'node:tls'
import { beforeAll, describe, expect, it } from '@jest/globals'
import { tlsProfile } from '../../src/http/http-server.ts'
import { makeCertificate } from '../webhooks/certificate.ts'
import { prepareApi } from '../support/api.ts'

/** From Node 24.5 on. */
const postQuantum = tlsProfile.ecdhCurve.startsWith('X25519MLKEM768:')

/** Listens with a self-signed certificate. Returns what a client that offers only `offer` negotiates. */
async function listen(keyType: 'ec' | 'rsa') {
  const { cert, key } = makeCertificate({ host: 'localhost', keyType })
  const { app } = await prepareApi({ tls: { cert, key } })
  await app.listen({ host: '127.0.0.1', port: 0 })
  const { port } = app.server.address() as AddressInfo
  return async (offer: ConnectionOptions): Promise<string> => {
    const socket = connect({ port, host: '127.0.0.1', servername: 'localhost', ca: cert, ...offer })
    try {
      await once(socket, 'secureConnect')
      return `${socket.getProtocol()} ${socket.getCipher().name}`
    } finally {
      socket.destroy()
    }
  }
}

/** Mozilla's "intermediate" profile. */
describe.each([
  ['ec', 'ECDSA'],
  ['rsa', 'RSA'],
] as const)('TLS with a certificate of type %s', (keyType, own) => {
  let agree: Awaited<ReturnType<typeof listen>>
  beforeAll(async () => {
    agree = await listen(keyType)
  })
  const suites = (names: string) =>
    agree({
      maxVersion: 'TLSv1.2',
      ciphers: `${names
        .split(' ')
        .map((name) => name.replace('OWN', own))
        .join(':')}:@SECLEVEL=0`,
    })

  it.each(['AES128-GCM-SHA256', 'AES256-GCM-SHA384', 'CHACHA20-POLY1305'])(
    'takes ECDHE with %s',
    async (name) => {
      expect(await suites(`ECDHE-OWN-${name}`)).toBe(`TLSv1.2 ECDHE-${own}-${name}`)
    },
  )

  it.each([
    ['suites without forward secrecy', 'AES128-GCM-SHA256 AES256-GCM-SHA384 AES128-SHA256 AES256-SHA256'],
    ['CBC with SHA-1', 'ECDHE-OWN-AES128-SHA ECDHE-OWN-AES256-SHA AES128-SHA AES256-SHA'],
    ['CBC with SHA-2', 'ECDHE-OWN-AES128-SHA256 ECDHE-OWN-AES256-SHA384'],
    [
      'CCM, ARIA and Camellia',
      'ECDHE-ECDSA-AES128-CCM ECDHE-OWN-ARIA128-GCM-SHA256 ECDHE-OWN-CAMELLIA128-SHA256',
    ],
    ['DHE', 'DHE-RSA-AES128-GCM-SHA256 DHE-RSA-AES256-GCM-SHA384 DHE-RSA-CHACHA20-POLY1305'],
  ])('refuses %s', async (_, names) => {
    await expect(suites(names)).rejects.toThrow(/alert handshake failure/)
  })

  it.each(['TLS_AES_128_GCM_SHA256', 'TLS_AES_256_GCM_SHA384', 'TLS_CHACHA20_POLY1305_SHA256'])(
    'takes %s of TLS 1.3',
    async (name) => {
      expect(await agree({ minVersion: 'TLSv1.3', ciphers: name })).toBe(`TLSv1.3 ${name}`)
    },
  )

  it('leaves the choice between good suites to the client', async () => {
    const [fast, faster] = [`ECDHE-${own}-CHACHA20-POLY1305`, `ECDHE-${own}-AES128-GCM-SHA256`]
    expect(await suites(`${fast} ${faster}`)).toBe(`TLSv1.2 ${fast}`)
    expect(await suites(`${faster} ${fast}`)).toBe(`TLSv1.2 ${faster}`)
  })
})

describe('TLS', () => {
  let agree: Awaited<ReturnType<typeof listen>>
  beforeAll(async () => {
    agree = await listen('rsa')
  })
  const only = (version: 'TLSv1.2' | 'TLSv1.3', ecdhCurve: string) =>
    agree({ minVersion: version, maxVersion: version, ecdhCurve })

  it.each([
    ['TLSv1.2', 'X25519'],
    ['TLSv1.2', 'prime256v1'],
    ['TLSv1.2', 'secp384r1'],
    ['TLSv1.3', 'X25519'],
    ['TLSv1.3', 'prime256v1'],
    ['TLSv1.3', 'secp384r1'],
    ...(postQuantum ? ([['TLSv1.3', 'X25519MLKEM768']] as const) : []),
  ] as const)('in version %s takes the group %s', async (version, group) => {
    expect(await only(version, group)).toContain(version)
  })

  it.each([
    ['TLSv1.2', 'secp521r1'],
    ['TLSv1.2', 'X448'],
    ['TLSv1.2', 'brainpoolP256r1'],
    ['TLSv1.2', 'secp256k1'],
    ['TLSv1.3', 'secp521r1'],
    ['TLSv1.3', 'X448'],
    ['TLSv1.3', 'ffdhe2048'],
  ] as const)('in version %s refuses the group %s', async (version, group) => {
    await expect(only(version, group)).rejects.toThrow(/alert handshake failure/)
  })
})
