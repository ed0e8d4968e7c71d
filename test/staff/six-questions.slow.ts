import { readFileSync } from 'node:fs'
import path from 'node:path'
import { beforeAll, describe, expect, it } from '@jest/globals'
import { partnerCalls, prepareService, type Service, type TestPartner } from '../support/service.ts'
import type { ServiceProcess } from '../support/processes.ts'
import { until } from '../support/until.ts'
import { staff } from './context.ts'

const page = readFileSync(path.join(import.meta.dirname, '../../docs/operations/support.md'), 'utf8')
const ADA = { first_name: 'Ada', last_name: 'Miller', phone: '+1 555-0100' }

/** A partner's question is answered with the commands of the page, as printed, and nothing else. */
describe('the six questions of docs/operations/support.md', () => {
  let service: Service
  let api: ServiceProcess
  let calm: TestPartner
  let failing: TestPartner
  const leads: Record<'missing' | 'twice' | 'late', number> = { missing: 0, twice: 0, late: 0 }
  let requestId: string
  /** Seconds that the commands of each question took. */
  const took: Record<string, number> = {}

  beforeAll(async () => {
    service = await prepareService()
    ;[calm, failing] = [await service.addPartner(), await service.addPartner()]
    ;[api] = await Promise.all([service.startApi(), service.startWorker()])
    failing.endpoint.answer = (_, response) => response.writeHead(500).end()
    let isOver = false
    calm.endpoint.answer = ({ event: { data } }, response) =>
      response.writeHead(data.partner_lead_id === 'LOAN-2026-133' && !isOver ? 503 : 200).end()
    leads.missing = await create(failing, 'LOAN-2026-131', 'bob@example.com')
    leads.twice = await create(calm, 'LOAN-2026-132', 'ada@example.com')
    await calm.endpoint.until(({ length }) => length > 0)
    leads.late = await create(calm, 'LOAN-2026-133', 'Ada+home@Example.com')
    await calm.endpoint.until(({ length }) => length > 1)
    isOver = true
    await until(async () => (await statesOf(leads.late)).includes('delivered'))
    await until(async () => (await failuresOf(leads.missing)) > 0)
    requestId = await refusedRequest()
  }, 90_000)

  const create = async (partner: TestPartner, id: string, email: string) => {
    const { body } = await partnerCalls(api.port, partner.key).post('create-lead', {
      ...ADA,
      email,
      partner_lead_id: id,
    })
    return body.lead_id
  }
  const refusedRequest = async () => {
    const response = await fetch(`http://127.0.0.1:${api.port}/v1/create-lead`, {
      method: 'POST',
      headers: { authorization: `Service-Key ${failing.key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ ...ADA, email: 'nobody' }),
    })
    return response.headers.get('x-request-id') ?? ''
  }
  const deliveries = (lead: number) => service.sql.selectFrom('deliveries').where('lead_id', '=', lead)
  const statesOf = async (lead: number) =>
    (await deliveries(lead).select('state').execute()).map(({ state }) => state)
  const failuresOf = async (lead: number) =>
    (await deliveries(lead).select('failures').executeTakeFirst())?.failures ?? 0
  const eventOf = async (lead: number) =>
    (await deliveries(lead).select('event_id').executeTakeFirstOrThrow()).event_id

  /** Runs a command line that the page has, with these in place of its examples. */
  async function run(question: string, example: string, instead: Record<string, string> = {}) {
    expect(page).toContain(`npm run staff -- ${example}`)
    const words = example.split(' ').map((word) => instead[word] ?? word)
    const began = performance.now()
    const { code, stdout, stderr } = await staff(service.environment, words)
    took[question] = Math.round(((took[question] ?? 0) + (performance.now() - began) / 1000) * 10) / 10
    expect(stderr).toBe('')
    return { code, stdout }
  }

  it('“missing”: the lead, what it waits for, and what their server answered', async () => {
    const found = await run('missing', 'find LOAN-2026-131')
    expect(found.stdout).toMatch(
      /^waits for +the next attempt at the webhook lead_received \(evt_.*\), which failed (?:once|\d+ times), last with 500$/m,
    )
    expect(found.stdout).toContain(`delivery list --lead ${leads.missing}`)
    const list = await run('missing', 'delivery list --lead 1042', { 1042: `${leads.missing}` })
    expect(list.stdout).toMatch(/lead_received +pending +\d+ .* 500 /)
    await until(async () =>
      (await staff(service.environment, ['find', requestId])).stdout.includes('That request'),
    )
    const request = await run('missing', 'find TEXT', { TEXT: requestId })
    expect(request.stdout).toContain('was create-lead, answered 400 INVALID_PAYLOAD: email.')
    expect(request.stdout).toContain('No lead was found.')
  })

  it('“twice”: one event, sent again because somebody asked', async () => {
    const event = await eventOf(leads.twice)
    await run('twice', 'delivery resend EVENT', { EVENT: event })
    await until(
      async () => calm.endpoint.arrivals.filter(({ event: { data } }) => data.event_id === event).length > 1,
    )
    const found = await run('twice', 'find evt_0195550a-6b8a-7c31-9d2e-3f4a5b6c7d8e', {
      'evt_0195550a-6b8a-7c31-9d2e-3f4a5b6c7d8e': event,
    })
    expect(found.stdout).toMatch(new RegExp(`^lead +${leads.twice}$`, 'm'))
    const show = await run('twice', 'lead show 1042', { 1042: `${leads.twice}` })
    expect(show.stdout).toMatch(/ 1 +scheduled .* 200 [\s\S]* 2 +resend .* 200 /)
    const audit = await run('twice', 'audit list --partner 1', { 1: `${calm.id}` })
    expect(audit.stdout).toMatch(/tester .*delivery\.resend/)
  })

  it('“late”: how often it was tried, and how the server fared that day', async () => {
    const list = await run('late', 'delivery list --lead 1042', { 1042: `${leads.late}` })
    expect(list.stdout).toMatch(/ delivered +2 /)
    const health = await run('late', 'partner health 1', { 1: `${calm.id}` })
    expect(health.stdout).toMatch(
      /^20\d\d-\d\d-\d\d +2 +2 +0 +0 +[\d.]+ m?s, [\d.]+ s +\d+ +\d+(?:\.\d+)?% /m,
    )
    expect(health.stdout).toMatch(/^create-lead +200 +- +2 /m)
  })

  it('“who is unhappy”: whose webhooks wait', async () => {
    const { stdout } = await run('unhappy', 'partner list')
    expect(stdout).toMatch(new RegExp(`^${failing.id} .* \\d+(?:\\.\\d)? m?s +0% `, 'm'))
    expect(stdout).toMatch(new RegExp(`^${calm.id} .* - +[1-9]\\d*(?:\\.\\d+)?% `, 'm'))
    await service.sql
      .updateTable('endpoints')
      .set({ failing_since: new Date(Date.now() - 3_600_000) })
      .where('partner_id', '=', failing.id)
      .execute()
    const inbox = await run('unhappy', 'inbox')
    expect(inbox).toMatchObject({
      code: 3,
      stdout: expect.stringContaining(`The endpoint of partner ${failing.id}, First Lender, fails`),
    })
  })

  it('“was that deployment bad”: since when which workflows fail, and on which build', async () => {
    const before = await run('deployment', 'inbox')
    expect(before.stdout).not.toContain('The task of')
    const { runId } = await service.client.workflow.getHandle(`lead-${leads.late}`).describe()
    const failingWorkflow = {
      workflow_id: `lead-${leads.late}`,
      run_id: runId,
      type: 'referral',
      failure: 'Nondeterminism error',
      failed_on: 'build-of-today',
      since: new Date(Date.now() - 600_000),
    }
    await service.sql.insertInto('failing_workflows').values(failingWorkflow).execute()
    const { stdout } = await run('deployment', 'inbox')
    expect(stdout).toMatch(
      /^The task of 1 referral workflow fails, of lead-\d+ .*Nondeterminism error\..*\n {2}since +20/m,
    )
    const repair = await run('deployment', 'workflow repair')
    expect(repair.stdout).toMatch(/^failing on +worked on last by .*\nbuild-of-today +\S+ /m)
    const health = await run('deployment', 'partner health 1', { 1: `${calm.id}` })
    expect(health.stdout).not.toMatch(/ 5\d\d +INTERNAL_ERROR /)
  })

  it('“find Ada”: her leads by her address however it is written, and that somebody looked', async () => {
    const found = await run('Ada', 'find ada@example.com')
    for (const lead of [leads.twice, leads.late]) expect(found.stdout).toMatch(new RegExp(`^${lead} `, 'm'))
    const show = await run('Ada', 'lead show 1042', { 1042: `${leads.late}` })
    expect(show.stdout).toMatch(/^name +Ada Miller$/m)
    const report = await staff(service.environment, ['access', 'report', '--lead', `${leads.late}`])
    expect(report.stdout).toMatch(/tester \(.*\): .*find by email/)
    expect(report.stdout).not.toMatch(/example\.com/i)
  })

  it('take seconds of commands each', () => {
    expect(Object.keys(took)).toEqual(['missing', 'twice', 'late', 'unhappy', 'deployment', 'Ada'])
    expect(Math.max(...Object.values(took))).toBeLessThan(30)
  })
})
