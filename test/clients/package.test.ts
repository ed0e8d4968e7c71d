import { checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core'
import { beforeAll, describe, expect, it } from '@jest/globals'
import { execFile } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { promisify } from 'node:util'
import { publint } from 'publint'
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
})
