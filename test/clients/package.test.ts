import { checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core'
import { beforeAll, describe, expect, it } from '@jest/globals'
import { execFile } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import path from 'node:path'
import { promisify } from 'node:util'
import { publint } from 'publint'
import { Webhooks } from '../../src/clients/typescript/src/index.ts'
import { generateSecret } from '../../src/core/deliveries/webhooks/secrets.ts'
import { atEnd } from '../support/at-end.ts'
import { temporaryFolder } from '../support/folder.ts'

const run = promisify(execFile)
const root = path.join(import.meta.dirname, '../..')
const source = path.join(root, 'src/clients/typescript')

/** As a lender writes it. */
const PROGRAM = `
import { Referrals, InvalidPayloadError, Webhooks } from 'partner-referrals'
import { journey, request } from 'partner-referrals/fixtures'

const referrals = new Referrals({ apiKey: 'prs_test_1', baseUrl: 'http://127.0.0.1:1/v1', deadlineMs: 1 })
const secret = 'whsec_' + btoa('0123456789abcdef0123456789abcdef')
const webhooks = new Webhooks({ secrets: secret })
let points = 0
const handle = webhooks.fetch({
  on: { score_update: async (event) => void (points += event.data.eventPayload.experianGain) },
})
for (const event of journey()) {
  const { headers, body } = await request(event, secret)
  await handle(new Request('http://lender.example/webhooks', { method: 'POST', headers, body }))
}
const lead = { firstName: 'Ada', lastName: 'Miller', email: 'ada@example.com', phone: '555-0100' }
const error: unknown = await referrals.leads.create(lead).catch((error: unknown) => error)
if (error instanceof InvalidPayloadError) console.log(error.fields)
console.log(points, error instanceof Error ? error.name : '')
`

const SECRET = generateSecret()

describe('the package partner-referrals', () => {
  let tarball: string
  let folder: string

  beforeAll(async () => {
    folder = temporaryFolder()
    const { stdout } = await run('npm', ['pack', '--silent', '--pack-destination', folder], { cwd: source })
    tarball = path.join(folder, stdout.trim().split('\n').at(-1) ?? '')
  })

  it('depends on nothing, and has nothing wrong in the eyes of publint and attw', async () => {
    const { dependencies, peerDependencies, version } = JSON.parse(
      readFileSync(path.join(source, 'package.json'), 'utf8'),
    ) as Record<string, unknown>
    expect([dependencies, peerDependencies]).toEqual([undefined, undefined])
    const document = JSON.parse(readFileSync(path.join(root, 'docs/openapi.json'), 'utf8')) as {
      info: { version: string }
    }
    expect(version).toBe(document.info.version)
    const data = readFileSync(tarball)
    const pack = { tarball: data.buffer.slice(data.byteOffset, data.byteOffset + data.length) }
    expect((await publint({ pack, strict: true })).messages).toEqual([])
    const checked = await checkPackage(createPackageFromTarballData(data))
    const problems = checked.types === false ? ['no types'] : checked.problems
    // it is a package of modules: from CommonJS it is imported, or required by Node 22.12 and later
    const beyond = problems.filter(
      (problem) =>
        typeof problem === 'string' || !['CJSResolvesToESM', 'NoResolution'].includes(problem.kind),
    )
    expect(beyond).toEqual([])
  })

  it('works in an empty project, typed', async () => {
    const project = path.join(folder, 'lender')
    mkdirSync(project)
    writeFileSync(path.join(project, 'package.json'), '{"private":true,"type":"module"}')
    writeFileSync(path.join(project, 'main.ts'), PROGRAM)
    await run('npm', ['install', '--offline', '--no-audit', '--no-fund', tarball], { cwd: project })
    const types = path.join(root, 'node_modules/@types')
    const flags = [
      '--strict',
      '--target',
      'es2022',
      '--module',
      'nodenext',
      '--types',
      'node',
      '--typeRoots',
      types,
    ]
    await run(process.execPath, [path.join(root, 'node_modules/typescript/bin/tsc'), ...flags, 'main.ts'], {
      cwd: project,
    })
    const { stdout } = await run(process.execPath, ['main.js'], { cwd: project })
    expect(stdout).toBe('96 NoAnswerError\n')
  })

  it('has the command prs, which needs no package and no network', async () => {
    const project = path.join(folder, 'command')
    mkdirSync(project)
    writeFileSync(path.join(project, 'package.json'), '{"private":true}')
    const options = {
      cwd: project,
      env: { ...process.env, npm_config_offline: 'true', WEBHOOK_SECRET: SECRET },
    }
    await run('npm', ['install', '--no-audit', '--no-fund', tarball], options)
    // also without an installation
    const packed = await run('npx', ['--yes', '--package', tarball, 'prs', '--help'], options)
    const prs = (...args: string[]) => run('npx', ['prs', ...args], options)
    expect((await prs('--help')).stdout).toBe(packed.stdout)
    expect((await prs('--help')).stdout).toMatch(/^prs COMMAND\n\n {2}listen .*\n {2}certify /)
    const refusal: unknown = await prs('listen', '--api-key', 'prs_live_1').catch((error: unknown) => error)
    expect(refusal).toMatchObject({ code: 2, stderr: expect.stringContaining('was not sent') })
    const webhooks = new Webhooks({ secrets: SECRET })
    const server = createServer(webhooks.node({ on: {} }) as unknown as RequestListener)
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    atEnd(async () => void server.close())
    const { port } = server.address() as AddressInfo
    expect((await prs('certify', `http://127.0.0.1:${port}/`)).stdout).toMatch(/\n14 of 14 checks passed\n$/)
    const bundle = readFileSync(path.join(project, 'node_modules/partner-referrals/dist/prs.js'), 'utf8')
    const imported = [...bundle.matchAll(/^import .* from "([^"]+)";$/gm)].map(([, name]) => name)
    expect(imported.length).toBeGreaterThan(0)
    expect(imported.filter((name) => !name?.startsWith('node:'))).toEqual([])
    expect(bundle).not.toMatch(/\brequire\(/)
  })
})
