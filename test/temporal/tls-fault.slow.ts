import { beforeAll, describe, expect, it } from '@jest/globals'
import { tlsFault } from '../../src/core/temporal/tls-fault.ts'
import { staffProcess, withoutTemporal } from '../staff/context.ts'
import { anyPort } from '../support/any-port.ts'
import { atOnce } from '../support/at-once.ts'
import { openDatabase } from '../support/open-database.ts'
import { runToEnd } from '../support/processes.ts'
import { tlsProxy } from '../support/tls-proxy.ts'

/** By a name, because Node warns on stderr of TLS to an address without one. */
const plain = (process.env.TEST_TEMPORAL_ADDRESS ?? '').replace('127.0.0.1', 'localhost')

describe('where TLS does not fit the server, a line says what to do', () => {
  let secure: Awaited<ReturnType<typeof tlsProxy>>
  let url: string
  const { begun, begin } = atOnce()

  beforeAll(async () => {
    ;[secure, { url }] = await Promise.all([tlsProxy(plain), openDatabase()])
    // each waits until Temporal has not answered for long
    begin()
  })

  const cases = [
    [
      'Temporal takes TLS only',
      () => ({ TEMPORAL_ADDRESS: secure.address }),
      /takes TLS only: set TEMPORAL_TLS=true/,
    ],
    [
      'Temporal takes no TLS',
      () => ({ TEMPORAL_ADDRESS: plain, TEMPORAL_TLS: 'true' }),
      /speaks plain text, and TEMPORAL_TLS, .*set TEMPORAL_TLS=false/,
    ],
    [
      'an API key turns TLS on',
      () => ({ TEMPORAL_ADDRESS: plain, TEMPORAL_API_KEY: 'hidden' }),
      /speaks plain text, and .* TEMPORAL_API_KEY turns TLS on: set TEMPORAL_TLS=false/,
    ],
    [
      'the certificate is of an unknown authority',
      () => ({ TEMPORAL_ADDRESS: secure.address, TEMPORAL_TLS: 'true' }),
      /is not trusted \(DEPTH_ZERO_SELF_SIGNED_CERT\): name its authority in TEMPORAL_TLS_SERVER_CA_CERT_PATH/,
    ],
    [
      'the certificate is for another name',
      () => ({
        TEMPORAL_ADDRESS: secure.address,
        TEMPORAL_TLS_SERVER_CA_CERT_PATH: secure.certificateFile,
        TEMPORAL_TLS_SERVER_NAME: 'other.example',
      }),
      /is not trusted \(ERR_TLS_CERT_ALTNAME_INVALID\): .* TEMPORAL_TLS_SERVER_NAME if it has another/,
    ],
  ] as const

  for (const [fault, environment, expected] of cases) {
    it(
      `by the staff command if ${fault}`,
      begun(async () => {
        const given = { ...withoutTemporal(url), ...environment() }
        const { code, stderr } = await staffProcess(given, ['workflow', 'rebuild', '--dry-run'])
        expect([code, stderr]).toEqual([1, expect.stringMatching(expected)])
        expect(stderr.trimEnd().split('\n')).toHaveLength(1)
        expect(stderr).not.toContain('hidden')
      }),
    )
  }

  it('by setup-temporal', async () => {
    const { code, stderr } = await runToEnd('src/setup-temporal.ts', { TEMPORAL_ADDRESS: secure.address })
    expect([code, stderr]).toEqual([
      1,
      `Temporal at ${secure.address} takes TLS only: set TEMPORAL_TLS=true, or correct TEMPORAL_ADDRESS\n`,
    ])
  })

  it('and none where it fits, or nothing listens', async () => {
    const address = `127.0.0.1:${await anyPort()}`
    const faults = await Promise.all([
      tlsFault({ address: plain }),
      tlsFault({ address }),
      tlsFault({ address, tls: true }),
    ])
    expect(faults).toEqual([undefined, undefined, undefined])
  })
})
