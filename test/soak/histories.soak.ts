import { setTimeout as delay } from 'node:timers/promises'
import { beforeAll, describe, expect, it } from '@jest/globals'
import { putClockAhead } from '../support/clock.ts'
import { ownTemporal } from '../support/own-temporal.ts'
import { prepareService } from '../support/service.ts'
import { until } from '../support/until.ts'
import { type Fixture, fixtureOf } from '../workflows/scenes.ts'

const PERIOD_S = 45 * 24 * 60 * 60
const UPDATES = 8
const BEFORE = ['client_account_created', 'credit_scan_completed', 'contract_signed', 'escrow_funded']
const CHATS = 3

/** What docs/performance.md says, with a tenth to spare; the first depends on how soon its webhooks are accepted. */
const OPEN_BYTES = 2100
const FIRST_BYTES = 26_000
const ENDED_BYTES = 5700

describe('the histories of an open lead', () => {
  let fixture: Fixture

  beforeAll(async () => {
    const { address } = await ownTemporal()
    const service = await prepareService({ TEMPORAL_ADDRESS: address })
    const [partner] = await Promise.all([service.addPartner(), service.startWorker()])
    fixture = fixtureOf(service, partner)
  }, 60_000)

  const describeRun = (leadId: number, runId?: string) =>
    fixture.service.client.workflow.getHandle(`lead-${leadId}`, runId).describe()

  it(`are small after ${UPDATES} score updates`, async () => {
    const leadId = await fixture.leads.start()
    for (const [index, name] of BEFORE.entries()) {
      await fixture.send(leadId, name)
      await fixture.arrived(leadId, index + 2)
    }
    for (let chat = 1; chat <= CHATS; chat += 1) {
      await fixture.send(leadId, 'client_engaged_in_chat')
      await fixture.leads.recorded(leadId, 'client_engaged_in_chat', chat)
    }
    const runs = [(await describeRun(leadId)).runId]
    for (let update = 1; update <= UPDATES; update += 1) {
      // a run that has just begun goes on
      await delay(2000)
      await putClockAhead(fixture.service.sql, leadId, PERIOD_S)
      await fixture.send(leadId, 'clock_moved', { offset: update * PERIOD_S * 1000 })
      const next = await until(async () => {
        const { runId } = await describeRun(leadId)
        return runId !== runs.at(-1) && runId
      })
      runs.push(next)
    }
    const isWaiting = async () => (await describeRun(leadId)).raw.pendingWorkflowTask === null
    await until(isWaiting)
    const sizes = await Promise.all(
      runs.map(async (runId) => (await describeRun(leadId, runId)).historySize ?? 0),
    )
    const [first = 0, ...others] = sizes
    expect(first).toBeLessThan(FIRST_BYTES)
    expect(others.pop()).toBeLessThan(OPEN_BYTES)
    expect(Math.max(...others)).toBeLessThan(ENDED_BYTES)
  }, 120_000)
})
