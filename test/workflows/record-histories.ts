import { execFile } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import { beforeAll, describe, expect, it } from '@jest/globals'
import { findTemporal } from '../../src/embedded/temporal-program.ts'
import { startMailServer } from '../support/mail-server.ts'
import { ownTemporal } from '../support/own-temporal.ts'
import { cross, crossing, type Fixture, otherScenes, prepareFixture, type Scene, scenes } from './scenes.ts'

const folder = path.join(import.meta.dirname, 'histories')

/** `npm run histories`: plays every scene and writes its history, which from then on must replay. */
describe('histories', () => {
  beforeAll(() => void mkdirSync(folder, { recursive: true }))

  describe('of one service', () => {
    let fixture: Fixture

    beforeAll(async () => {
      const { url } = await startMailServer()
      fixture = await prepareFixture({ SMTP_URL: url, SMTP_CATCHER: 'true' })
    })

    it.each(Object.entries(scenes))('%s', async (name, play) => {
      const leadId = await fixture.leads.start()
      const { runId } = await handleOf(fixture, leadId).describe()
      await play(fixture, leadId)
      expect(await write(name, fixture, `lead-${leadId}`, runId)).toHaveProperty('events')
    })

    it.each(Object.entries(otherScenes))('%s', async (name, play) => {
      const workflowId = await play(fixture.service)
      const { runId } = await fixture.service.client.workflow.getHandle(workflowId).describe()
      expect(await write(name, fixture, workflowId, runId)).toHaveProperty('events')
    })
  })

  it('continued-as-new, begun-by-continuing', async () => {
    const temporal = await ownTemporal(['limit.historyCount.suggestContinueAsNew=30'])
    const fixture = await prepareFixture({ TEMPORAL_ADDRESS: temporal.address })
    expect(await writeBoth(crossing, cross, fixture)).toEqual(bothWritten)
  })

  const bothWritten = [
    expect.objectContaining({ events: expect.any(Array) }),
    expect.objectContaining({ events: expect.any(Array) }),
  ]

  async function writeBoth([former, next]: readonly [string, string], play: Scene, fixture: Fixture) {
    const leadId = await fixture.leads.start()
    const { runId } = await handleOf(fixture, leadId).describe()
    await play(fixture, leadId)
    const history = await handleOf(fixture, leadId, runId).fetchHistory()
    const { newExecutionRunId } = history.events?.at(-1)?.workflowExecutionContinuedAsNewEventAttributes ?? {}
    return [
      await write(former, fixture, `lead-${leadId}`, runId),
      await write(next, fixture, `lead-${leadId}`, newExecutionRunId ?? ''),
    ]
  }

  const handleOf = ({ service }: Fixture, leadId: number, runId?: string) =>
    service.client.workflow.getHandle(`lead-${leadId}`, runId)

  async function write(name: string, fixture: Fixture, workflowId: string, runId: string): Promise<unknown> {
    const history = await historyOf(fixture, workflowId, runId)
    const text = JSON.stringify(history, withoutMachine)
    writeFileSync(path.join(folder, `${name}.json`), `${text}\n`)
    return history
  }

  /** As the Temporal CLI writes it, which is how production's are taken. */
  async function historyOf(fixture: Fixture, workflowId: string, runId: string): Promise<unknown> {
    const { TEMPORAL_ADDRESS: address, TEMPORAL_NAMESPACE: namespace } = fixture.service.environment
    const program = await findTemporal(process.env)
    const which = ['--workflow-id', workflowId, '--run-id', runId, '--output', 'json']
    const where = ['--address', address, '--namespace', namespace]
    const show = promisify(execFile)
    const { stdout } = await show(program, ['workflow', 'show', ...which, ...where], { maxBuffer: 2 ** 28 })
    return JSON.parse(stdout)
  }
})

/** Identities and sticky queues are named after the machine: nobody's business, and different every time. */
function withoutMachine(key: string, value: unknown): unknown {
  if (key === 'identity') return 'worker'
  return typeof value === 'string' && value.includes(hostname()) ? 'worker' : value
}
