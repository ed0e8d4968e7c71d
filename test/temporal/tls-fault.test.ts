import { readFileSync } from 'node:fs'
import { beforeAll, describe, expect, it } from '@jest/globals'
import { tlsFault } from '../../src/temporal/remedies.ts'
import { anyPort } from '../support/any-port.ts'
import { tlsProxy } from '../support/tls-proxy.ts'

/** A name, to which a certificate can be issued. */
const plain = (process.env.TEST_TEMPORAL_ADDRESS ?? '').replace('127.0.0.1', 'localhost')

describe('where TLS does not fit the server, one line says what to do', () => {
  let secure: Awaited<ReturnType<typeof tlsProxy>>
  const trusted = () => ({ serverRootCACertificate: readFileSync(secure.certificateFile) })

  beforeAll(async () => {
    secure = await tlsProxy(plain)
  })

  it.each([
    ['Temporal takes TLS only', () => ({ address: secure.address }), /takes TLS only: set TEMPORAL_TLS=true/],
    [
      'Temporal takes no TLS',
      () => ({ address: plain, tls: true }),
      /speaks plain text, and .*set TEMPORAL_TLS=false/,
    ],
    [
      'its authority is unknown',
      () => ({ address: secure.address, tls: true }),
      /is not trusted \(DEPTH_ZERO_SELF_SIGNED_CERT\): name its authority in TEMPORAL_TLS_SERVER_CA_CERT_PATH/,
    ],
    [
      'it is for another name',
      () => ({ address: secure.address, tls: { ...trusted(), serverNameOverride: 'other.example' } }),
      /is not trusted \(ERR_TLS_CERT_ALTNAME_INVALID\): .* TEMPORAL_TLS_SERVER_NAME if it has another/,
    ],
  ])('%s', async (_, options, line) => {
    expect(await tlsFault(options())).toMatch(line)
  })

  it('and says nothing where it fits, or nothing listens', async () => {
    const address = `127.0.0.1:${await anyPort()}`
    const fitting = [{ address: plain }, { address: secure.address, tls: trusted() }]
    const faults = await Promise.all([...fitting, { address }, { address, tls: true }].map(tlsFault))
    expect(faults).toEqual([undefined, undefined, undefined, undefined])
  })
})
