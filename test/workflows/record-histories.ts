import { execFile } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { promisify } from 'node:util'
import { beforeAll, describe, expect, it } from '@jest/globals'
import { findTemporal } from '../../src/embedded/temporal-binary.ts'
import { prepareService } from '../support/service.ts'
import { scenes, type Stage, stageOf } from './scenes.ts'

const folder = path.join(import.meta.dirname, 'histories')

/** `npm run histories`: plays every scene and writes its history, which from then on must replay. */
describe('histories', () => {
  let stage: Stage

  beforeAll(async () => {
    const service = await prepareService()
    const [partner] = await Promise.all([service.addPartner(), service.startWorker()])
    stage = stageOf(service, partner)
    mkdirSync(folder, { recursive: true })
  })

  it.each(Object.entries(scenes))('%s', async (name, play) => {
    const leadId = await stage.leads.start()
    const { runId } = await stage.service.client.workflow.getHandle(`lead-${leadId}`).describe()
    await play(stage, leadId)
    const history = await historyOf(leadId, runId)
    expect(history).toHaveProperty('events')
    const text = JSON.stringify(history, withoutMachine, 1)
    writeFileSync(path.join(folder, `${name}.json`), `${text}\n`)
  })

  /** As the Temporal CLI writes it, which is how production's are taken. */
  async function historyOf(leadId: number, runId: string): Promise<unknown> {
    const { TEMPORAL_ADDRESS: address, TEMPORAL_NAMESPACE: namespace } = stage.service.environment
    const program = await findTemporal({ environment: process.env, report: () => {} })
    const which = ['--workflow-id', `lead-${leadId}`, '--run-id', runId, '--output', 'json']
    const where = ['--address', address, '--namespace', namespace]
    const show = promisify(execFile)
    const { stdout } = await show(program, ['workflow', 'show', ...which, ...where], { maxBuffer: 2 ** 28 })
    return JSON.parse(stdout)
  }
})

/** Which machine and process recorded it is nobody's business, and different every time. */
function withoutMachine(key: string, value: unknown): unknown {
  return key === 'identity' ? 'worker' : value
}
