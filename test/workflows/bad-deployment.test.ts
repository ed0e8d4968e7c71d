import { beforeAll, describe, expect, it } from '@jest/globals'
import { contextOf } from '../staff/context.ts'
import { badBuild } from '../support/bad-build.ts'
import { leadsOf } from '../support/leads.ts'
import { type ServiceProcess, startProcess } from '../support/processes.ts'
import { scrape } from '../support/scrape.ts'
import { prepareService, type Service, type TestPartner } from '../support/service.ts'
import { until } from '../support/until.ts'
import { show } from '../../src/staff/lead-view.ts'
import { requireLead } from '../../src/staff/require-lead.ts'

const CHATS = 3

describe('a deployment that breaks the workflows', () => {
  let service: Service
  let partner: TestPartner
  let leads: ReturnType<typeof leadsOf>
  let worker: ServiceProcess
  let leadId: number

  beforeAll(async () => {
    service = await prepareService({ METRICS_PORT: '0' })
    partner = await service.addPartner()
    leads = leadsOf(service, partner)
    const bad = await startProcess('src/worker.ts', service.environment, badBuild())
    leadId = await leads.start()
    await service.referrals.signal(leadId, 'contract_signed')
    for (let count = 0; count < CHATS; count += 1)
      await service.referrals.signal(leadId, 'client_engaged_in_chat')
    await until(async () => {
      const { events } = await handle().fetchHistory()
      return events?.some(({ timerStartedEventAttributes: timer }) => timer)
    })
    await bad.stop()
    await service.referrals.signal(leadId, 'escrow_funded')
    worker = await service.startWorker()
  }, 60_000)

  const handle = () => service.client.workflow.getHandle(`lead-${leadId}`)
  const shown = async () => {
    const context = await contextOf(service.environment)
    return show(context, await requireLead(context.sql, leadId, { evenErased: true }))
  }

  it('is found: the lead says that its task fails, since when and why', async () => {
    const failing = await until(async () => {
      const answer = await shown()
      return answer.json.workflow.failing?.since instanceof Date && answer
    })
    expect(failing.json.workflow).toMatchObject({
      status: 'RUNNING',
      failing: { since: expect.any(Date), failure: expect.stringContaining('Nondeterminism error') },
    })
    expect(failing.text).toMatch(/task fails since .*\nbecause +.*Nondeterminism/)
  })

  it('is counted and logged once it has lasted for a minute', async () => {
    await service.sql
      .updateTable('failing_workflows')
      .set({ since: new Date(Date.now() - 61_000) })
      .execute()
    await until(async () => (await scrape(worker)).value('referrals_workflows_failing') === 1)
    const line = await until(async () =>
      worker
        .output()
        .split('\n')
        .find((each) => each.includes('"workflow_id":')),
    )
    expect(JSON.parse(line)).toMatchObject({ level: 50, workflow_id: `lead-${leadId}` })
  })
})
