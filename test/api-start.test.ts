import { writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import path from 'node:path'
import { beforeAll, describe, expect, it } from '@jest/globals'
import { atEnd } from './support/at-end.ts'
import { temporaryFolder } from './support/folder.ts'
import { openDatabase } from './support/open-database.ts'
import { runToEnd } from './support/processes.ts'
import { withoutTemporal } from './staff/context.ts'
import { makeCertificate } from './webhooks/certificate.ts'

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
})
