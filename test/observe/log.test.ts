import { beforeAll, describe, expect, it } from '@jest/globals'
import { newUuid } from '../../src/values.ts'
import { webhookBody } from '../../src/webhooks/body.ts'
import { insertLead, leadIds } from '../../src/leads/new-lead.ts'
import { LEAD } from '../support/leads.ts'
import { startMailServer } from '../support/mail-server.ts'
import type { Running } from '../support/in-process.ts'
import { prepareService, type Service, type TestPartner } from '../support/service.ts'
import { until } from '../support/until.ts'

interface LogLine extends Record<string, unknown> {
  level: number
  process: string
  msg: string
}

const linesOf = ({ output }: Running): LogLine[] =>
  output()
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as LogLine)

describe('the log of the API and the worker', () => {
  let service: Service
  let partner: TestPartner
  let mail: Awaited<ReturnType<typeof startMailServer>>
  let api: Running
  let worker: Running

  beforeAll(async () => {
    mail = await startMailServer()
    service = await prepareService({ SMTP_URL: mail.url, MAIL_ALLOW_DOMAINS: '*' })
    partner = await service.addPartner()
    ;[api, worker] = await Promise.all([service.startApi(), service.startWorker()])
  }, 60_000)

  const lines = (wanted: Partial<LogLine>) =>
    [...linesOf(api), ...linesOf(worker)].filter((line) =>
      Object.entries(wanted).every(([name, value]) => line[name] === value),
    )
  /** The lines with these fields, once there are so many. */
  const awaited = (wanted: Partial<LogLine>, count = 1) =>
    until(async () => {
      const found = lines(wanted)
      return found.length >= count ? found : undefined
    })

  async function post(path: string, body: object, to = api) {
    const response = await fetch(`http://127.0.0.1:${to.port}/v1/${path}`, {
      method: 'POST',
      headers: { authorization: `Service-Key ${partner.key}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    const answer = (await response.json()) as { lead_id: number }
    return { leadId: answer.lead_id, requestId: response.headers.get('x-request-id') ?? '' }
  }

  const createLead = (to = api) => post('create-lead', { ...LEAD, email: `${newUuid()}@example.com` }, to)
  /** The first run: a comparison at the wrong moment starts another one. */
  const runOf = async (leadId: number) =>
    (await service.client.workflow.getHandle(`lead-${leadId}`).describe()).raw.workflowExecutionInfo
      ?.firstRunId

  it('has a line for what create-lead causes: request, start, attempt and email, all with its id', async () => {
    const { leadId, requestId } = await createLead()
    const awaitedLines = [{ msg: 'start', process: 'api' }, { msg: 'attempt' }, { msg: 'mail' }]
    await Promise.all(awaitedLines.map((line) => awaited({ ...line, request_id: requestId })))
    const runId = await runOf(leadId)
    const every = {
      level: 30,
      time: expect.any(String),
      build: expect.stringMatching(/^\d/),
      host: expect.any(String),
      request_id: requestId,
      partner_id: partner.id,
      lead_id: leadId,
      workflow_id: `lead-${leadId}`,
      duration_ms: expect.any(Number),
      pid: process.pid,
    }
    const byWorker = { ...every, process: 'worker', run_id: runId }
    const eventId = lines({ msg: 'request', request_id: requestId })[0]?.event_id
    expect(eventId).toMatch(/^evt_/)
    // on a busy machine, the sweep may have asked too
    const isSwept = ({ msg, process: by }: LogLine) => msg === 'start' && by === 'worker'
    const caused = lines({ request_id: requestId }).filter((line) => !isSwept(line))
    const byName = new Map(caused.map((line) => [line.msg, line]))
    expect(Object.fromEntries(byName)).toEqual({
      request: {
        ...every,
        process: 'api',
        msg: 'request',
        key_id: expect.any(Number),
        event_id: eventId,
        method: 'POST',
        route: '/v1/create-lead',
        status: 200,
      },
      start: expect.objectContaining({ lead_id: leadId, workflow_type: 'referral', outcome: 'running' }),
      attempt: {
        ...byWorker,
        msg: 'attempt',
        event_id: eventId,
        sequence: 1,
        attempt_id: expect.stringMatching(/^att_/),
        trigger: 'scheduled',
        outcome: 'delivered',
        status: 200,
        error_code: null,
      },
      mail: {
        ...byWorker,
        msg: 'mail',
        message_id: expect.stringMatching(
          new RegExp(String.raw`^onboarding-${leadId}@[0-9a-f]{8}\.partner-referral-service$`),
        ),
        outcome: 'sent',
      },
    })
    expect(mail.mails.map(({ content }) => content).join('')).toContain(
      `<${String(byName.get('mail')?.message_id)}>`,
    )
  })

  it('has the id of simulate-event in the lines of the milestones that it records, and of their attempts', async () => {
    const { leadId } = await createLead()
    await awaited({ msg: 'attempt', lead_id: leadId })
    const events = ['contract_signed', 'escrow_funded'].map((event_name) => ({ event_name }))
    const { requestId } = await post('sandbox/simulate-event', { lead_id: leadId, events })
    const recorded = await awaited({ msg: 'recording', request_id: requestId }, 2)
    const attempted = await awaited({ msg: 'attempt', request_id: requestId }, 2)
    const runId = await runOf(leadId)
    expect(recorded).toEqual(
      ['contract_signed', 'escrow_funded'].map((event, index) =>
        expect.objectContaining({
          partner_id: partner.id,
          lead_id: leadId,
          event,
          sequence: index + 2,
          outcome: 'recorded',
          workflow_id: `lead-${leadId}`,
          run_id: runId,
        }),
      ),
    )
    expect(attempted.map(({ event_id: id }) => id)).toEqual(recorded.map(({ event_id: id }) => id))
    expect(lines({ msg: 'start', request_id: requestId })).toEqual([])
  })

  it('names the workflow of a lead whose webhook fails, and says when it is tried again, with the same id', async () => {
    let isRefused = false
    partner.endpoint.answer = (_, response) => {
      response.writeHead(isRefused ? 200 : 503).end()
      isRefused = true
    }
    const { leadId, requestId } = await createLead()
    const [failed] = await awaited({ msg: 'attempt', request_id: requestId })
    expect(failed).toMatchObject({
      lead_id: leadId,
      workflow_id: `lead-${leadId}`,
      run_id: await runOf(leadId),
      outcome: 'failed',
      status: 503,
      error_code: 'http_error',
      failures: 1,
      retry_in_ms: expect.any(Number),
    })
    const [, again] = await awaited({ msg: 'attempt', request_id: requestId }, 2)
    expect(again).toMatchObject({ outcome: 'delivered', event_id: failed?.event_id })
  })

  it('says why an email was not sent', async () => {
    mail.refusing = true
    const { leadId, requestId } = await createLead()
    const [failed] = await awaited({ msg: 'mail', request_id: requestId })
    mail.refusing = false
    expect(failed).toMatchObject({
      lead_id: leadId,
      outcome: 'failed',
      reason: '550',
      workflow_id: `lead-${leadId}`,
    })
  })

  it('keeps the id where a workflow starts from the record, and shows it in the Web UI', async () => {
    const requestId = newUuid()
    const reserved = await leadIds(service.sql)()
    const { sql, encryptionKeys } = service
    await insertLead({ sql, encryptionKeys }, reserved, partner.id, LEAD, webhookBody('sandbox'), {
      requestId,
    })
    const { leadId } = reserved
    // by the sweep
    const [start] = await awaited({ msg: 'start', lead_id: leadId })
    expect(start).toMatchObject({ process: 'worker', request_id: requestId, outcome: 'running' })
    await awaited({ msg: 'attempt', request_id: requestId })
    const handle = service.client.workflow.getHandle(`lead-${leadId}`)
    expect((await handle.describe()).memo).toEqual({ request_id: requestId })
    await handle.terminate('for the test')
    await service.referrals.startFromRecord(leadId)
    expect((await handle.describe()).memo).toEqual({ request_id: requestId })
  })

  it('says which start failed', async () => {
    const away = await service.startApi({ TEMPORAL_ADDRESS: '127.0.0.1:1' })
    const { leadId } = await createLead(away)
    const line = await until(async () =>
      linesOf(away).find(({ msg }) => msg.startsWith('workflow not started yet')),
    )
    expect(line).toMatchObject({ level: 40, workflow_id: `lead-${leadId}` })
    await away.stop()
  }, 60_000)
})
