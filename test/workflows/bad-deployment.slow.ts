import { beforeAll, describe, expect, it } from '@jest/globals'
import { requireLead } from '../../src/core/leads/commands/require-lead.ts'
import { showLead } from '../../src/core/leads/commands/lead-view.ts'
import { carryOut, preview } from '../../src/core/temporal/commands/workflow-repair.ts'
import { watchBuild } from '../../src/core/temporal/commands/workflow-watch.ts'
import type { StaffContext } from '../../src/staff/context.ts'
import { milestoneUpdate, type ReferralView } from '../../workflows/messages.ts'
import { auditOf, contextOf } from '../staff/context.ts'
import { badBuild } from '../support/bad-build.ts'
import { leadsOf } from '../support/leads.ts'
import { type ServiceProcess, startProcess } from '../support/processes.ts'
import { scrape } from '../support/scrape.ts'
import { prepareService, type Service, type TestPartner } from '../support/service.ts'
import { until } from '../support/until.ts'

const CHAT = 'client_engaged_in_chat'
const GAINS = {
  experian_gain: 1,
  equifax_gain: 1,
  transunion_gain: 1,
  estimated_time_remaining: '1-2 days',
}

describe('workflows that a bad deployment worked on, and that do not fit once it is rolled back', () => {
  let service: Service
  let context: StaffContext
  let partner: TestPartner
  let leads: ReturnType<typeof leadsOf>
  let worker: ServiceProcess
  let waiting: number
  /** Signalled, asked by update, and to be canceled. */
  let signalled: number
  let asked: number
  let canceled: number
  let repeats = 0

  const handleOf = (leadId: number) => service.client.workflow.getHandle(`lead-${leadId}`)
  const eventsOf = async (leadId: number) => (await handleOf(leadId).fetchHistory()).events ?? []
  const shown = async (leadId: number) =>
    showLead(context, await requireLead(context.sql, leadId, { evenErased: true }))

  beforeAll(async () => {
    service = await prepareService({ METRICS_PORT: '0' })
    context = await contextOf(service.environment)
    partner = await service.addPartner()
    leads = leadsOf(service, partner)
    const good = await service.startWorker()
    waiting = await leads.start()
    // nothing is left to do for it, so that the bad version does not work on it
    await until(async () => (await handleOf(waiting).query<ReferralView>('state')).next === 2)
    await good.stop()
    const bad = await startProcess('src/worker.ts', service.environment, badBuild())
    ;[signalled, asked, canceled] = [await leads.start(), await leads.start(), await leads.start()]
    const send = (leadId: number, name: string, argument?: unknown) =>
      service.referrals.signal(leadId, name, argument)
    await send(signalled, 'contract_signed')
    for (const argument of [undefined, undefined, { id: 'a' }]) await send(signalled, CHAT, argument)
    await handleOf(asked).startUpdate(milestoneUpdate, {
      args: [{ name: 'score_update', id: 'b', event_payload: GAINS }],
      waitForStage: 'ACCEPTED',
    })
    await send(canceled, 'escrow_funded')
    await handleOf(canceled).cancel()
    for (const leadId of [signalled, asked, canceled])
      await until(async () => (await eventsOf(leadId)).some((event) => event.timerStartedEventAttributes))
    await until(async () =>
      (await eventsOf(canceled)).some((event) => event.workflowExecutionCancelRequestedEventAttributes),
    )
    await bad.stop()
    await send(signalled, 'escrow_funded')
    await send(waiting, 'contract_signed')
    worker = await service.startWorker()
  }, 60_000)

  it('are found: such a lead says that its task fails, since when and why', async () => {
    const { json, text } = await until(async () => {
      const answer = await shown(signalled)
      return answer.json.workflow.failing?.since instanceof Date && answer
    })
    expect(json.workflow).toMatchObject({
      status: 'RUNNING',
      failing: { failure: expect.stringMatching(/^\[TMPRL1100\] Nondeterminism error: [^{]+$/) },
    })
    expect(text).toMatch(/task fails since .*\nbecause +.*Nondeterminism/)
    expect((await shown(waiting)).json.workflow.failing).toBeNull()
  })

  it('are counted and logged once their task has failed for a minute', async () => {
    const failSince = (since: Date) => service.sql.updateTable('failing_workflows').set({ since }).execute()
    // a busy machine may have taken long to come here
    await failSince(new Date())
    await until(async () => (await preview(context)).json.to_reset === 3)
    expect((await scrape(worker)).value('referrals_workflows_failing')).toBe(0)
    await failSince(new Date(Date.now() - 61_000))
    const lines = await until(async () => {
      const told = worker
        .output()
        .split('\n')
        .filter((line) => line.includes('a workflow’s task fails'))
      return told.length >= 3 && told.map((line) => JSON.parse(line) as Record<string, unknown>)
    })
    expect(lines.map(({ workflow_id: id }) => String(id)).toSorted()).toEqual(
      [signalled, asked, canceled].map((id) => `lead-${id}`).toSorted(),
    )
    expect(lines[0]).toMatchObject({ level: 50, failure: expect.stringContaining('Nondeterminism') })
    await until(async () => (await scrape(worker)).value('referrals_workflows_failing') === 3)
  })

  it('are only listed without --yes, with the build that worked on them last', async () => {
    const runs = async () => (await handleOf(signalled).describe()).runId
    const before = await runs()
    const { json, text } = await preview(context)
    expect(json).toMatchObject({ dry_run: true, to_reset: 3, failing: [{ type: 'referral', workflows: 3 }] })
    expect(text).toContain('To reset 3, add --yes')
    const [, good] = /"temporal_build":"([^"]+)","msg":"worker is polling"/.exec(worker.output()) ?? []
    expect(json.builds).toEqual([{ failing_on: good, worked_on_by: expect.any(String), workflows: 3 }])
    const [{ worked_on_by: bad } = { worked_on_by: '' }] = json.builds
    expect(bad).not.toBe(good)
    expect((await preview(context, { build: bad })).json.to_reset).toBe(3)
    expect(await runs()).toBe(before)
  })

  it('speak against the build on which they fail, for whoever watches it', async () => {
    const [{ failing_on: good } = { failing_on: '' }] = (await preview(context)).json.builds
    const { json, failed } = await watchBuild(context, good, { seconds: 0, atLeast: 0 })
    expect(json.fault).toMatch(/^the task of 3 workflows fails on it, of lead-\d+ for example: \[TMPRL1100\]/)
    expect(failed).toBe(true)
  })

  it('are reset, by two at a time too: each milestone is recorded once and each webhook is sent once', async () => {
    const both = await Promise.all([carryOut(context), carryOut(context)])
    for (const { json } of both) expect(json).toMatchObject({ dry_run: false, failed: [] })
    // as its answer says: one whose task was just given to a worker anew is not seen to fail
    await until(async () => {
      if ((await preview(context)).json.to_reset === 0) return true
      const { json } = await carryOut(context)
      expect(json.failed).toEqual([])
      repeats += 1
      return false
    })
    await leads.recorded(signalled, 'escrow_funded')
    await leads.recorded(asked, 'score_update')
    await until(async () => (await handleOf(canceled).describe()).status.name === 'COMPLETED')
    expect((await leads.names(signalled)).toSorted()).toEqual(
      ['lead_received', 'contract_signed', CHAT, CHAT, CHAT, 'escrow_funded'].toSorted(),
    )
    expect(await leads.names(asked)).toEqual(['lead_received', 'score_update'])
    expect(await leads.names(canceled)).toEqual(['lead_received', 'escrow_funded'])
    expect((await shown(canceled)).json.close_reason).toBe('canceled')
    await partner.endpoint.until(() => leads.arrivals(signalled).length >= 3)
    const sequences = (leadId: number) => leads.arrivals(leadId).map(({ event }) => event.data.sequence)
    expect(sequences(signalled)).toEqual([1, 2, 3])
    expect(sequences(asked)).toEqual([1, 2])
  })

  it('are left alone where they go on by themselves, and by a repeated repair', async () => {
    await leads.recorded(waiting, 'contract_signed')
    const runs = () =>
      Promise.all([waiting, signalled, asked].map(async (id) => (await handleOf(id).describe()).runId))
    const before = await runs()
    const { json } = await carryOut(context)
    expect(json).toMatchObject({ reset: 0, failed: [] })
    expect(await runs()).toEqual(before)
    await until(async () => (await preview(context)).json.to_reset === 0)
    await until(async () => (await scrape(worker)).value('referrals_workflows_failing') === 0)
  })

  it('leave the repairs in the audit', async () => {
    const rows = (await auditOf(context)).filter(({ action }) => action === 'workflow.repair')
    expect(rows.filter(({ outcome }) => outcome === 'begun')).toHaveLength(3 + repeats)
    const resets = rows.filter(({ outcome }) => outcome === 'done').map(({ detail }) => detail?.reset)
    expect(Math.max(...resets.map(Number))).toBeGreaterThan(0)
  })
})
