import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { connect, type ConnectionOptions } from 'node:tls'
import { beforeAll, describe, expect, it } from '@jest/globals'
import { makeCertificate } from '../webhooks/certificate.ts'
import { prepareApi } from '../support/api.ts'

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
      ciphers: `${names.replaceAll('OWN', own).replaceAll(' ', ':')}:@SECLEVEL=0`,
    })

  it('accepts TLS 1.3, and TLS 1.2 with the secure suite that the client prefers', async () => {
    const [chacha, aes] = ['ECDHE-OWN-CHACHA20-POLY1305', 'ECDHE-OWN-AES128-GCM-SHA256']
    expect(await suites(`${chacha} ${aes}`)).toBe(`TLSv1.2 ${chacha.replace('OWN', own)}`)
    expect(await suites(`${aes} ${chacha}`)).toBe(`TLSv1.2 ${aes.replace('OWN', own)}`)
    expect(await agree({ minVersion: 'TLSv1.3' })).toMatch(/^TLSv1.3 TLS_/)
  })

  it.each([
    ['suites without forward secrecy', 'AES128-GCM-SHA256 AES256-GCM-SHA384 AES128-SHA256 AES256-SHA256'],
    ['CBC', 'ECDHE-OWN-AES128-SHA ECDHE-OWN-AES256-SHA ECDHE-OWN-AES128-SHA256 ECDHE-OWN-AES256-SHA384'],
    ['DHE', 'DHE-RSA-AES128-GCM-SHA256 DHE-RSA-AES256-GCM-SHA384 DHE-RSA-CHACHA20-POLY1305'],
  ])('refuses %s', async (_, names) => {
    await expect(suites(names)).rejects.toThrow(/alert handshake failure/)
  })

  it('refuses TLS 1.1', async () => {
    const old = agree({ minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT:@SECLEVEL=0' })
    await expect(old).rejects.toThrow(/alert protocol version/)
  })
})
