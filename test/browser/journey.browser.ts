import { describe, expect, it } from '@jest/globals'
import type { SignalledMilestone } from '../../src/leads/milestones.ts'
import { until } from '../support/until.ts'
import { useStage } from './console.ts'

const journey: [SignalledMilestone, string][] = [
  ['client_account_created', 'Client account created'],
  ['credit_scan_completed', 'Credit scan completed'],
  ['contract_signed', 'Contract signed'],
  ['escrow_funded', 'Escrow funded'],
  ['score_update', 'Score update'],
  ['mortgage_ready', 'Mortgage ready'],
]
const A_MINUTE_MS = 60_000
const gains = {
  experian_gain: 12,
  equifax_gain: 8,
  transunion_gain: -3,
  estimated_time_remaining: '30-60 days',
}

describe('a lead in the console', () => {
  const stage = useStage()

  it('goes from a filled form to mortgage ready, each milestone and its webhook shown as it happens', async () => {
    const tab = await stage.open()
    await tab.getByRole('link', { name: 'Create your first lead' }).click()
    await tab.getByLabel('Your lead id').fill('LOAN-7')
    await tab.locator('form').getByText('As curl').click()
    expect(await tab.getByRole('group', { name: 'POST /v1/create-lead' }).textContent()).toContain('LOAN-7')
    await tab.getByRole('button', { name: 'Create lead' }).click()
    await tab.getByRole('heading', { level: 1, name: /^Lead \d+$/ }).waitFor()
    const id = Number(/leads\/(\d+)/.exec(tab.url())?.[1])
    for (const [name, shown] of journey) {
      await stage.service.referrals.signal(
        id,
        name,
        name === 'score_update' ? { event_payload: gains } : undefined,
      )
      const event = tab.locator('.event', { hasText: shown })
      await event.getByText('Delivered').waitFor()
    }
    await tab.locator('.head').getByText('Mortgage ready').waitFor()
    expect(await tab.locator('.journey li.done').count()).toBe(7)
    expect(await tab.locator('.event', { hasText: 'Score update' }).textContent()).toContain(
      'Equifax +8 Experian +12 TransUnion −3',
    )
    expect(await tab.locator('.facts').getByText('Your lead id').count()).toBe(1)
    await tab.getByRole('link', { name: 'Leads' }).first().click()
    await tab.getByRole('columnheader', { name: 'Your lead id' }).waitFor()
    await tab.getByRole('row', { name: /LOAN-7 Mortgage ready All delivered/ }).waitFor()
    expect(tab.complaints).toEqual([])
  })

  it('shows the request that the endpoint got, and resends it', async () => {
    const id = await stage.calls.createLead()
    const arrived = () => stage.partner.endpoint.arrivals.filter(({ event }) => event.data.lead_id === id)
    const tab = await stage.open(`#/leads/${id}`)
    await tab.getByRole('button', { name: 'Lead received' }).click()
    const [arrival] = arrived()
    await tab.locator('.code', { hasText: `webhook-signature: ${arrival?.signature}` }).waitFor()
    await tab.locator('.code', { hasText: 'Body, indented' }).getByRole('button', { name: 'Copy' }).click()
    expect(await tab.evaluate('navigator.clipboard.readText()')).toBe(arrival?.body)

    await tab.getByRole('button', { name: 'Resend' }).press('Enter')
    await tab.getByText('The webhook will be sent again.').waitFor()
    await tab.locator('button:focus', { hasText: 'Resend' }).waitFor()
    await tab.getByRole('row', { name: /200 .* a (replay|resend)$/ }).waitFor()
    expect(arrived().map(({ replay }) => replay)).toEqual([undefined, 'true'])
    // of the attempt that is shown now
    await tab.locator('.code', { hasText: `webhook-signature: ${arrived()[1]?.signature}` }).waitFor()
  })

  it('shows that a held webhook is delivered, which no event says, as the live view does', async () => {
    await stage.calls.post('pause-endpoint', {})
    const id = await stage.calls.createLead()
    const tab = await stage.open(`#/leads/${id}`)
    const event = tab.locator('.event', { hasText: 'Lead received' })
    await event.getByText('Held').first().waitFor()
    const live = await stage.open('#/live?states=held')
    const row = live.getByRole('row', { name: `Lead received ${id}` })
    await row.waitFor()
    await stage.calls.post('resume-endpoint', {})
    await event.getByText('Delivered').waitFor()
    await row.waitFor({ state: 'detached' })
    expect(tab.complaints).toEqual([])
  })

  it('says why a webhook fails before it is opened, and then what the endpoint answered', async () => {
    stage.partner.endpoint.answer = (_, response) =>
      void response
        .writeHead(503, { 'x-reason': 'ledger is read-only' })
        .end('<b>down</b> for maintenance <script>alert(1)</script>')
    const id = await stage.calls.createLead()
    const tab = await stage.open(`#/leads/${id}`)
    const event = tab.locator('.event', { hasText: 'Lead received' })
    await event.locator('.why').getByText('your endpoint answered 503').waitFor()
    await event.getByRole('button', { name: 'Lead received' }).click()
    const shown = async (name: string) => event.getByRole('group', { name }).first().textContent()
    await event.getByText('Its body, up to 4 KB').first().waitFor()
    expect(await shown('Its body')).toBe('<b>down</b> for maintenance <script>alert(1)</script>')
    expect(await shown('Status and headers')).toMatch(/^HTTP 503\n(.*\n)*x-reason: ledger is read-only/)
    const arrival = stage.partner.endpoint.arrivals.find(({ event: { data } }) => data.lead_id === id)
    expect(await shown('Headers that we sent')).toBe(
      `content-type: application/json\nwebhook-id: ${arrival?.id}\nwebhook-timestamp: ${arrival?.timestamp}\nwebhook-signature: ${arrival?.signature}`,
    )
    stage.partner.endpoint.answer = (_, response) => void response.writeHead(200).end()
    await event.getByRole('button', { name: 'Try now' }).click()
    await event.getByText('Delivered').waitFor()
    expect(await event.locator('.why').count()).toBe(0)
    await event.getByText('Its body was empty.').waitFor()
    expect(tab.complaints).toEqual([])
  })

  it('shows a failing webhook with its next attempt, and tries it at once when the endpoint is mended', async () => {
    stage.partner.endpoint.answer = (_, response) => void response.writeHead(503).end()
    const id = await stage.calls.createLead({ partner_lead_id: 'LOAN-8' })
    const tab = await stage.open(`#/leads/${id}`)
    const event = tab.locator('.event', { hasText: 'Lead received' })
    await event.getByText('Retrying').waitFor()
    await event
      .locator('.why')
      .getByText(/^Next attempt \d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC/)
      .waitFor()
    // after the second attempt
    await event.getByText(/^Next attempt .* \(in [456] minutes\)$/).waitFor()

    await tab.goto(`${stage.url}#/leads?delivery=failing`)
    await tab.getByRole('row', { name: /LOAN-8 Lead received Failing 1 webhook/ }).waitFor()
    stage.partner.endpoint.answer = (_, response) => void response.writeHead(200).end()
    await tab.goBack()
    await event.getByRole('button', { name: 'Try now' }).click()
    await event.getByText('Delivered').waitFor()
    await event.getByRole('button', { name: 'Lead received' }).click()
    const attempts = event.getByRole('table', { name: 'Attempts' })
    await attempts.getByRole('row', { name: /^3 200/ }).waitFor()
    expect(await event.getByText('your endpoint answered 503').count()).toBe(0)
    await attempts.getByRole('button', { name: '1', exact: true }).click()
    await event.getByRole('group', { name: 'Status and headers' }).getByText('HTTP 503').waitFor()
    await event.getByText('your endpoint answered 503').waitFor()
    expect(tab.complaints).toEqual([])
  })

  it('has what is not delivered first, then what was, and says what its clock brings', async () => {
    const id = await stage.calls.createLead()
    await stage.calls.post('sandbox/simulate-event', {
      lead_id: id,
      events: [{ event_name: 'client_account_created' }, { event_name: 'contract_signed' }],
    })
    const isOf = ({ event }: { event: { data: { lead_id: number } } }) => event.data.lead_id === id
    await stage.partner.endpoint.until((arrivals) => arrivals.filter(isOf).length === 3)
    stage.partner.endpoint.answer = (_, response) => void response.writeHead(503).end()
    await stage.calls.post('sandbox/simulate-event', {
      lead_id: id,
      events: [{ event_name: 'escrow_funded' }, { event_name: 'score_update' }],
    })
    const tab = await stage.open(`#/leads/${id}`)
    const rows = tab.locator('.events tbody')
    await rows.getByText('Waits for webhook 4').last().waitFor()
    expect(await rows.locator(':is(th[scope=rowgroup], .event-name)').allTextContents()).toEqual([
      'Not delivered',
      'Escrow funded',
      'Score update',
      'Done newest first',
      'Contract signed',
      'Client account created',
      'Lead received',
    ])
    // of the event, not of this moment, which may be of the next day
    const { created_at: funded } = await stage.service.sql
      .selectFrom('lead_events')
      .select('created_at')
      .where('lead_id', '=', id)
      .where('event_name', '=', 'escrow_funded')
      .executeTakeFirstOrThrow()
    const due = new Date(funded.getTime() + 45 * 86_400_000).toISOString().slice(0, 10)
    await tab.locator('.journey li', { hasText: 'Mortgage ready' }).getByText('Next milestone').waitFor()
    stage.partner.endpoint.answer = (_, response) => void response.writeHead(200).end()
    await stage.calls.post('resume-endpoint', {})
    await rows.getByText('Not delivered').waitFor({ state: 'hidden' })
    await tab.locator('.note', { hasText: `Score update is due at ${due}` }).waitFor()
  })

  it('says why the endpoint fails, and tries all that wait when it is mended', async () => {
    stage.partner.endpoint.answer = (_, response) => void response.writeHead(503).end()
    const failed = await stage.calls.createLead()
    const tab = await stage.open('#/endpoint')
    await tab.getByText('Last error').waitFor()
    await tab.getByText('Next attempt').waitFor()
    // no further attempt fails meanwhile
    await until(async () => {
      const { body } = await stage.calls.post('get-endpoint', {})
      return Date.parse(body.data.next_attempt_at ?? '') - Date.now() > A_MINUTE_MS
    })
    // it accepts another one, and the first still waits
    stage.partner.endpoint.answer = ({ event }, response) =>
      void response.writeHead(event.data.lead_id === failed ? 503 : 200).end()
    await stage.calls.createLead()
    await tab.getByRole('heading', { name: '1 webhook waits for a retry' }).waitFor()
    await tab.getByText('Those that failed before wait').waitFor()
    stage.partner.endpoint.answer = (_, response) => void response.writeHead(200).end()
    await tab.getByRole('button', { name: 'Retry now' }).click()
    await tab.getByText('Those that failed before wait').waitFor({ state: 'hidden' })
    await tab.locator('.facts').getByText('None').waitFor()
    await tab.getByText('Last error').waitFor({ state: 'hidden' })
    expect(tab.complaints).toEqual([])
  })

  it('shows a name with markup in it as text', async () => {
    const name = '<img src=x onerror=alert(1)><b>Ada</b>'
    const id = await stage.calls.createLead({
      first_name: name,
      partner_lead_id: '<script>alert(2)</script>',
    })
    const tab = await stage.open(`#/leads/${id}`)
    await tab.getByText(`${name} Miller`).waitFor()
    await tab.locator('.facts').getByText('<script>alert(2)</script>').waitFor()
    expect(tab.complaints).toEqual([])
  })

  it('shows what happens within a second, without a reload', async () => {
    const tab = await stage.open('#/live')
    await tab.getByText('Live', { exact: true }).nth(1).waitFor()
    const id = await stage.calls.createLead({ partner_lead_id: 'LOAN-9' })
    const created = Date.now()
    await tab.getByRole('row', { name: new RegExp(`Lead received ${id} `) }).waitFor()
    // the feed is read every half second; this machine may be busy
    expect(Date.now() - created).toBeLessThan(10_000)
    await tab.getByText('1 event since you opened the console.').waitFor()
  })
})
