import { writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import path from 'node:path'
import { beforeAll, describe, expect, it } from '@jest/globals'
import { switchableProxy } from './api/switchable-proxy.ts'
import { atEnd } from './support/at-end.ts'
import { atOnce } from './support/at-once.ts'
import { temporaryFolder } from './support/folder.ts'
import { openDatabase } from './support/open-database.ts'
import { runToEnd, type ServiceProcess, startProcess } from './support/processes.ts'
import { prepareService, type Service } from './support/service.ts'
import { until } from './support/until.ts'
import { withoutTemporal } from './staff/context.ts'
import { makeCertificate } from './webhooks/certificate.ts'

interface Entry {
  level: number
  msg: string
}

describe('an API whose Temporal cannot be used', () => {
  const WARN = 40
  const { begun, begin } = atOnce()
  let service: Service
  let proxy: Awaited<ReturnType<typeof switchableProxy>>

  beforeAll(async () => {
    service = await prepareService()
    proxy = await switchableProxy(new URL(`tcp://${service.environment.TEMPORAL_ADDRESS}`))
    atEnd(() => proxy.close())
    // each waits for as long as a server may take to start
    begin()
  })

  const logOf = ({ output }: ServiceProcess) =>
    output()
      .split('\n')
      // Node warns on stderr of TLS to an address without a name
      .flatMap((line) => (line.startsWith('{') ? (JSON.parse(line) as Entry) : []))
  const warningsOf = (api: ServiceProcess) =>
    logOf(api).flatMap(({ level, msg }) => (level >= WARN ? msg : []))
  const meanwhile = 'Leads are taken meanwhile, and their workflows start later.'

  it(
    'says so once, and once that it answers',
    begun(async () => {
      await proxy.goAway()
      const { host } = new URL(proxy.url)
      const api = await service.startApi({ TEMPORAL_ADDRESS: host })
      await until(async () => warningsOf(api).length > 0)
      await proxy.comeBack()
      await until(async () => logOf(api).some(({ msg }) => msg === 'Temporal answers: workflows are started'))
      expect(warningsOf(api)).toEqual([
        expect.stringMatching(
          new RegExp(
            `^Temporal does not answer at ${host}: start it, or set TEMPORAL_ADDRESS \\(.+\\)\\. ${meanwhile}$`,
          ),
        ),
      ])
      expect(await api.stop()).toBe(0)
    }),
  )

  const faults: [string, Record<string, string>, RegExp][] = [
    [
      'the namespace is not there',
      { TEMPORAL_NAMESPACE: 'missing' },
      /^Temporal’s namespace missing cannot be used: .+[^.]\. Run npm run setup-temporal, or set TEMPORAL_NAMESPACE\. /,
    ],
    [
      'TLS is on and should not be',
      { TEMPORAL_TLS: 'true' },
      /^Temporal at \S+ speaks plain text, and TEMPORAL_TLS, .*: set TEMPORAL_TLS=false, or correct TEMPORAL_ADDRESS\. /,
    ],
  ]
  for (const [fault, settings, expected] of faults) {
    it(
      `says so, with the remedy, if ${fault}`,
      begun(async () => {
        const api = await service.startApi(settings)
        await until(async () => warningsOf(api).length > 0)
        expect(warningsOf(api)).toEqual([expect.stringMatching(expected)])
        expect(await api.stop()).toBe(0)
      }),
    )
  }

  it('says nothing while it may be starting, and stops at once', async () => {
    const api = await service.startApi({ TEMPORAL_ADDRESS: '127.0.0.1:1' })
    const asked = Date.now()
    expect(await api.stop()).toBe(0)
    expect(Date.now() - asked).toBeLessThan(8000)
    expect(warningsOf(api)).toEqual([])
  })
})

describe('an API', () => {
  const settings: Record<string, string> = {}

  beforeAll(async () => {
    Object.assign(settings, withoutTemporal((await openDatabase()).url), { PORT: '0' })
  })

  it.each(['PORT', 'METRICS_PORT'])('says in one line that its %s is in use', async (name) => {
    const server = createServer()
    await once(server.listen(0, '127.0.0.1'), 'listening')
    atEnd(async () => void server.close())
    const { port } = server.address() as AddressInfo
    const { code, stderr } = await runToEnd('src/server.ts', { ...settings, [name]: `${port}` })
    expect(code).toBe(1)
    expect(stderr).toMatch(
      new RegExp(
        `^[^\\n]+ cannot listen on 127\\.0\\.0\\.1:${port}: [^\\n]+\\. Free the port, or set ${name}\\.\\n$`,
      ),
    )
  })

  it.each([
    ['is no key', 'no key'],
    ['is of another certificate', makeCertificate({ host: 'localhost' }).key],
  ])('says in one line that the file in TLS_KEY_FILE %s', async (_, key) => {
    const folder = temporaryFolder()
    const files = { TLS_CERT_FILE: path.join(folder, 'c.pem'), TLS_KEY_FILE: path.join(folder, 'k.pem') }
    writeFileSync(files.TLS_CERT_FILE, makeCertificate({ host: 'localhost' }).cert)
    writeFileSync(files.TLS_KEY_FILE, key)
    const { code, stderr } = await runToEnd('src/server.ts', { ...settings, ...files })
    expect(code).toBe(1)
    expect(stderr).toMatch(/^TLS_CERT_FILE or TLS_KEY_FILE cannot be used: [^\n]+\n$/)
  })

  it('says in its log and to probes what PostgreSQL says of a wrong password', async () => {
    const url = Object.assign(new URL(settings.DATABASE_URL ?? ''), { password: 'hidden' }).href
    const api = await startProcess('src/server.ts', { ...settings, DATABASE_URL: url, METRICS_PORT: '0' })
    const says =
      /password authentication failed for user \W+\w+\W+ \(28P01\); correct role and password in DATABASE_URL/
    expect(await until(async () => says.test(api.output()))).toBe(true)
    for (const probe of ['readyz', 'healthz']) {
      const answer = await fetch(`http://127.0.0.1:${api.metricsPort}/${probe}`)
      expect(answer.status).toBe(503)
      expect(await answer.text()).toMatch(says)
    }
    expect(api.output()).not.toContain('hidden')
  })
})
