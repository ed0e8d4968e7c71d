import { execFile } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import { beforeAll, describe, expect, it } from '@jest/globals'
import { findTemporal } from '../../src/embedded/temporal-program.ts'
import { startMailServer } from '../support/mail-server.ts'
import { CONTINUED, type Fixture, otherScenes, prepareFixture, scenes } from './scenes.ts'

const folder = path.join(import.meta.dirname, 'histories')

/** `npm run histories`: plays every scene and writes its history, which from then on must replay. */
describe('histories', () => {
  let fixture: Fixture

  beforeAll(async () => {
    mkdirSync(folder, { recursive: true })
    const { url } = await startMailServer()
    fixture = await prepareFixture({ SMTP_URL: url, MAIL_ALLOW_DOMAINS: '*' })
  })

  const runOf = async (workflowId: string) =>
    (await fixture.service.client.workflow.getHandle(workflowId).describe()).runId

  it.each(Object.entries(scenes))('%s', async (name, play) => {
    const leadId = await fixture.leads.start()
    const workflowId = `lead-${leadId}`
    const first = await runOf(workflowId)
    await play(fixture, leadId)
    const written = [await write(name, workflowId, first)]
    if (name === 'journey') written.push(await write(CONTINUED, workflowId, await runOf(workflowId)))
    for (const history of written) expect(history).toHaveProperty('events')
  })

  it.each(Object.entries(otherScenes))('%s', async (name, play) => {
    const workflowId = await play(fixture.service)
    expect(await write(name, workflowId, await runOf(workflowId))).toHaveProperty('events')
  })

  async function write(name: string, workflowId: string, runId: string): Promise<unknown> {
    const history = await historyOf(workflowId, runId)
    const text = JSON.stringify(history, withoutMachine)
    writeFileSync(path.join(folder, `${name}.json`), `${text}\n`)
    return history
  }

  /** As the Temporal CLI writes it, which is how production's are taken. */
  async function historyOf(workflowId: string, runId: string): Promise<unknown> {
    const { TEMPORAL_ADDRESS: address, TEMPORAL_NAMESPACE: namespace } = fixture.service.environment
    const program = await findTemporal(process.env)
    const which = ['--workflow-id', workflowId, '--run-id', runId, '--output', 'json']
    const where = ['--address', address, '--namespace', namespace]
    const show = promisify(execFile)
    const { stdout } = await show(program, ['workflow', 'show', ...which, ...where], { maxBuffer: 2 ** 28 })
    return JSON.parse(stdout)
  }
})

/** Identities and sticky queues are named after the machine, so they would differ in each recording. */
function withoutMachine(key: string, value: unknown): unknown {
  if (key === 'identity') return 'worker'
  return typeof value === 'string' && value.includes(hostname()) ? 'worker' : value
}
