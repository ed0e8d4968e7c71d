import { checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core'
import { beforeAll, describe, expect, it } from '@jest/globals'
import { execFile } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import path from 'node:path'
import { promisify } from 'node:util'
import { publint } from 'publint'
import { Webhooks } from '../../src/clients/typescript/src/index.ts'
import { generateSecret } from '../../src/core/deliveries/webhooks/secrets.ts'
import { atEnd } from '../support/at-end.ts'
import { temporaryFolder } from '../support/folder.ts'
import { runBare } from './bare-context.ts'
import { answers, scriptedApi } from './scripted-api.ts'

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
// @ts-expect-error it is misspelt
webhooks.receiver({ on: { mortgage_redy: () => {} } })
const lead = { firstName: 'Ada', lastName: 'Miller', email: 'ada@example.com', phone: '555-0100' }
const error: unknown = await referrals.leads.create(lead).catch((error: unknown) => error)
if (error instanceof InvalidPayloadError) console.log(error.fields)
console.log(points, error instanceof Error ? error.name : '')
`

const SECRET = generateSecret()

/** As a Worker has it. */
const IN_A_WORKER = (port: number) => `
import { Referrals } from './index.js'
import { journey, request } from './fixtures.js'

const secret = 'whsec_' + btoa('0123456789abcdef0123456789abcdef')
const baseUrl = 'http://127.0.0.1:${port}/v1'
const referrals = new Referrals({ apiKey: 'prs_test_1', baseUrl, webhookSecrets: secret })
const lead = { firstName: 'Ada', lastName: 'Miller', email: 'ada@example.com', phone: '555-0100' }
export const ended = main()

async function main() {
  answers.push((await referrals.leads.create(lead)).leadId)
  const handle = referrals.webhooks.fetch({ on: {}, onOther: ({ type }) => void answers.push(type) })
  const { headers, body } = await request(journey()[0], secret)
  const response = await handle(new Request('http://lender.example/', { method: 'POST', headers, body }))
  answers.push(response.status, typeof process, typeof Buffer)
}
`

/** What examples take for granted. */
const GIVEN = `
import type { Express } from 'express'
import type { FastifyInstance } from 'fastify'
import type * as client from 'partner-referrals'
import type * as fixtures from 'partner-referrals/fixtures'
import type * as http from 'node:http'
import type { Pool, PoolClient } from 'pg'

declare global {
  const Referrals: typeof client.Referrals
  const createServer: typeof http.createServer
  const journey: typeof fixtures.journey
  const app: Express
  const fastify: FastifyInstance
  const pool: Pool
  const referrals: client.Referrals
  const seen: client.Seen<PoolClient>
  const leadId: number
  const secret: string
  const request: Request
  const rawBody: Uint8Array
  const headers: client.WebhookHeaders
  const load: () => Promise<string>
  const save: (place: string) => Promise<void>
  const update: (...args: [number, number] | [PoolClient, number, client.ScoreGains]) => Promise<void>
  const call: (leadId: number) => void
  const callBack: (client: PoolClient, leadId: number) => void
}
`

/** Of the README and of docstrings, each as a module of its own. */
function examples(): string[] {
  const readme = readFileSync(path.join(source, 'README.md'), 'utf8')
  const inReadme = [...readme.matchAll(/^```ts\n([^`]*)^```$/gm)].map(([, code = '']) => code)
  const files = readdirSync(path.join(source, 'src')).filter((file) => file !== 'api.ts')
  const inDocstrings = files.flatMap((file) => {
    const docstrings = readFileSync(path.join(source, 'src', file), 'utf8').match(/\/\*\*[^]*?\*\//g) ?? []
    return docstrings.flatMap((docstring) => docstring.split('@example\n').slice(1).map(codeOf))
  })
  expect([inReadme.length, inDocstrings.length]).toEqual([9, 14])
  return [...inReadme, ...inDocstrings]
}

/** Up to an empty line and another tag, or the end. */
function codeOf(example: string): string {
  const lines = example.split('\n').map((line) => line.replace(/^ *\*\/?( |$)/, ''))
  const end = lines.findIndex((line, index) => index > 0 && (line.startsWith('@') || line === ''))
  return lines.slice(0, end).join('\n')
}

describe('the package partner-referrals', () => {
  let tarball: string
  let folder: string
  let project: string

  beforeAll(async () => {
    folder = temporaryFolder()
    const { stdout } = await run('npm', ['pack', '--silent', '--pack-destination', folder], { cwd: source })
    tarball = path.join(folder, stdout.trim().split('\n').at(-1) ?? '')
    project = path.join(folder, 'lender')
    mkdirSync(project)
    writeFileSync(path.join(project, 'package.json'), '{"private":true,"type":"module"}')
    await run('npm', ['install', '--offline', '--no-audit', '--no-fund', tarball], { cwd: project })
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

  it('works in an empty project, typed, and so do the examples of README and docstrings', async () => {
    writeFileSync(path.join(project, 'main.ts'), PROGRAM)
    // as if the project had them
    for (const dependency of ['@types', 'fastify', 'pg'])
      symlinkSync(path.join(root, 'node_modules', dependency), path.join(project, 'node_modules', dependency))
    writeFileSync(path.join(project, 'given.ts'), GIVEN)
    const files = examples().map((code, index) => {
      writeFileSync(path.join(project, `example-${index}.ts`), `${code}\nexport {}\n`)
      return `example-${index}.ts`
    })
    const flags = ['--strict', '--target', 'es2022', '--module', 'nodenext', '--types', 'node']
    const tsc = path.join(root, 'node_modules/typescript/bin/tsc')
    const compiled = await run(process.execPath, [tsc, ...flags, 'main.ts', 'given.ts', ...files], {
      cwd: project,
    }).catch((error: unknown) => error)
    expect(compiled).toMatchObject({ stdout: '' })
    const { stdout } = await run(process.execPath, ['main.js'], { cwd: project })
    expect(stdout).toBe('96 NoAnswerError\n')
  })

  it('needs nothing but fetch and WebCrypto', async () => {
    const api = await scriptedApi(answers(200, { success: true, lead_id: 7 }))
    const dist = path.join(project, 'node_modules/partner-referrals/dist')
    expect(await runBare(dist, IN_A_WORKER(api.port))).toEqual([
      7,
      'lead_received',
      200,
      'undefined',
      'undefined',
    ])
  })

  it('has the command prs, which needs no package and no network', async () => {
    const empty = path.join(folder, 'command')
    mkdirSync(empty)
    writeFileSync(path.join(empty, 'package.json'), '{"private":true}')
    const options = {
      cwd: empty,
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
    expect((await prs('certify', `http://127.0.0.1:${port}/`)).stdout).toMatch(/\n16 of 16 checks passed\n$/)
    const bundle = readFileSync(path.join(empty, 'node_modules/partner-referrals/dist/prs.js'), 'utf8')
    const imported = [...bundle.matchAll(/^import .* from "([^"]+)";$/gm)].map(([, name]) => name)
    expect(imported.length).toBeGreaterThan(0)
    expect(imported.filter((name) => !name?.startsWith('node:'))).toEqual([])
    expect(bundle).not.toMatch(/\brequire\(/)
  })
})
