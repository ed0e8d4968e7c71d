import { execFile } from 'node:child_process'
import path from 'node:path'
import { promisify } from 'node:util'
import { beforeAll, describe, expect, it } from '@jest/globals'
import { temporaryFolder } from '../support/folder.ts'
import { startProcess } from '../support/processes.ts'
import { partnerCalls, prepareService, type Service } from '../support/service.ts'
import { makeImageTree } from './image-tree.ts'

const run = promisify(execFile)

/** What the Dockerfile makes, in a folder: see `makeImageTree`. By `npm run test:deploy`. */
describe('the image', () => {
  let tree: string
  let service: Service

  beforeAll(async () => {
    service = await prepareService({ METRICS_PORT: '0' })
    const made = makeImageTree(temporaryFolder())
    ;({ tree } = made)
    process.stderr.write(
      `node_modules: ${made.megabytes.before} MB before, ${made.megabytes.after} MB after\n`,
    )
  }, 600_000)

  /** As NODE_OPTIONS of the container has it. */
  const options = () => ({ NODE_OPTIONS: `--require ${path.join(tree, 'src/preload.cjs')}` })

  const runProgram = async (...args: string[]) => {
    const { stdout } = await run(process.execPath, args, {
      cwd: tree,
      env: {
        ...service.environment,
        ...options(),
        MIGRATION_DATABASE_URL: service.ownerUrl,
        STAFF_NAME: 'ada',
      },
    })
    return stdout
  }

  it('migrates and sets Temporal up', async () => {
    expect(await runProgram('src/migrate.ts')).toBe('The schema is up to date.\n')
    expect(await runProgram('src/setup-temporal.ts')).toContain('Temporal is set up')
  })

  it('takes a lead, runs its workflow and sends its webhooks', async () => {
    const partner = await service.addPartner()
    const [api, worker] = await Promise.all([
      startProcess('src/server.ts', service.environment, tree),
      startProcess('src/worker.ts', service.environment, tree),
    ])
    const leadId = await partnerCalls(api.port, partner.key).createLead()
    expect(await runProgram('src/staff.ts', 'milestone', String(leadId), 'contract_signed')).toContain(
      'Recorded contract_signed',
    )
    await partner.endpoint.until((arrivals) => arrivals.length === 2)
    expect(await runProgram('src/staff.ts', 'lead', 'show', String(leadId))).toContain('contract_signed')

    // read from the modules and from docs when they are asked for
    for (const page of [
      'console',
      'docs',
      'docs/webhooks',
      'docs/errors',
      'docs/search?q=retry',
      'v1/openapi.json',
    ])
      expect({ page, status: (await fetch(`http://127.0.0.1:${api.port}/${page}`)).status }).toEqual({
        page,
        status: 200,
      })
    for (const { metricsPort } of [api, worker])
      expect((await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).status).toBe(200)
    expect(await Promise.all([worker.stop(), api.stop()])).toEqual([0, 0])
  })

  it('holds the bundles of the programs', async () => {
    const current =
      "const { bundleOf } = await import('./src/prepared.ts'); console.log(bundleOf('src/worker.ts'))"
    expect(await runProgram('--input-type=module', '--eval', current)).toMatch(/dist.worker-\w+\.mjs\n$/)
  })

  it('holds the bundle of the workflows, and says so where it would have to make another', async () => {
    const bundle =
      "await (await import('./src/workflow-bundle.ts')).workflowBundle({ keptFile: process.argv[1] })"
    const kept = path.join(tree, 'node_modules/.cache/partner-referral-service/workflows.json')
    await runProgram('--input-type=module', '--eval', bundle, kept)
    await expect(runProgram('--input-type=module', '--eval', bundle, '/nowhere/kept.json')).rejects.toThrow(
      'this image has no bundler',
    )
  })
})
