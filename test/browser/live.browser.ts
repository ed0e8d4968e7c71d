import { EventEmitter, once } from 'node:events'
import { describe, expect, it } from '@jest/globals'
import { newUuid } from '../../src/values.ts'
import { until } from '../support/until.ts'
import { openTab } from './browser.ts'
import { useStage } from './console.ts'

const SECONDS_MS = 1000

/** Of a lead that nobody has. */
const eventNumber = (number: number) => ({
  event_id: `evt_${newUuid()}`,
  event_name: 'client_engaged_in_chat',
  event_payload: null,
  created_at: '2026-03-09 10:30:00',
  lead_id: 900_000 + number,
  partner_lead_id: null,
  sequence: null,
})

describe('the live view of the console', () => {
  const stage = useStage()

  it('has one clock, in UTC, and the partner’s ids of its leads', async () => {
    const id = await stage.calls.createLead({ partner_lead_id: 'LOAN-2' })
    await stage.calls.post('sandbox/advance-clock', { lead_id: id, days: 45 })
    await stage.calls.post('sandbox/simulate-event', { lead_id: id, event_name: 'contract_signed' })
    const tab = await stage.open('#/live')
    await tab.getByRole('row', { name: new RegExp(`Contract signed ${id} LOAN-2 Delivered`) }).waitFor()
    await tab.getByRole('columnheader', { name: 'Recorded (UTC)' }).waitFor()
    const times = await tab.locator('td:first-child time').allTextContents()
    expect(times).toHaveLength(2)
    const ages = times.map((time) => Date.now() - Date.parse(`${time.replace(' ', 'T')}Z`))
    expect(ages.every((ms) => ms > -2 * SECONDS_MS && ms < 60 * SECONDS_MS)).toBe(true)
  })

  it('does not call delivered what was refused when it was resent', async () => {
    const id = await stage.calls.createLead()
    const tab = await stage.open('#/live')
    const row = tab.getByRole('row', { name: `Lead received ${id}` })
    await row.getByText('Delivered').waitFor()
    stage.partner.endpoint.answer = (_, response) => void response.writeHead(301, { location: '/' }).end()
    await row.getByRole('button', { name: 'Resend' }).click()
    await row.filter({ hasText: '301' }).getByText('Resend failed').waitFor()
    expect(await row.getByText('Delivered').count()).toBe(0)
    stage.partner.endpoint.answer = (_, response) => void response.writeHead(200).end()
    await row.getByRole('button', { name: 'Resent' }).click()
    await row.getByText('Delivered').waitFor()
    expect(tab.complaints).toEqual([])
  })

  it('shows the retry of a lead whose clock is ahead when it is made', async () => {
    const id = await stage.calls.createLead()
    await stage.calls.post('sandbox/advance-clock', { lead_id: id, days: 45 })
    let answers = 0
    stage.partner.endpoint.answer = (_, response) =>
      void response.writeHead(answers++ === 0 ? 503 : 200).end()
    await stage.calls.post('sandbox/simulate-event', { lead_id: id, event_name: 'contract_signed' })
    const tab = await stage.open('#/live')
    const row = tab.getByRole('row', { name: `Contract signed ${id}` })
    await row.getByText('Delivered').waitFor()
    expect(answers).toBe(2)
    stage.partner.endpoint.answer = (_, response) => void response.writeHead(200).end()
  })

  it('counts all that arrived, and says of no webhook that it is not sent while it is not loaded', async () => {
    const tab = await openTab(stage.browser)
    const sent = Array.from({ length: 250 }, (_, index) => ({ ...eventNumber(index), sequence: 1 }))
    let asked = 0
    await tab.route('**/v1/list-events', async (route) => {
      asked += 1
      // the first says where the feed is
      const data = asked === 1 || asked > 4 ? [] : sent.slice((asked - 2) * 100, (asked - 1) * 100)
      await route.fulfill({ json: { success: true, data, next: `${asked}` } })
    })
    await tab.goto(`${stage.url}#key=${stage.partner.key}`)
    await tab.getByRole('link', { name: 'Live' }).click()
    await tab.getByText('250 events since you opened the console.').waitFor()
    await tab.locator('tbody').getByText('Pending').first().waitFor()
    expect(await tab.getByText('Not sent').count()).toBe(0)
  })

  it('says that a webhook is resent, and what came of it', async () => {
    const id = await stage.calls.createLead()
    const tab = await stage.open('#/live')
    const row = tab.getByRole('row', { name: `Lead received ${id}` })
    let answer = () => {}
    const asked = new Promise<void>((resolve) => (answer = resolve))
    await tab.route('**/v1/resend-webhook', async (route) => {
      await asked
      await route.continue()
    })
    await row.getByRole('button', { name: `Resend Lead received for lead ${id}` }).click()
    const status = row.getByRole('status')
    await status.getByText('Resending …').waitFor()
    await row.getByRole('button', { name: 'Resending …' }).waitFor()
    answer()
    await status.getByText('The webhook will be sent again.').waitFor()
    const resent = row.getByRole('button', { name: `Resent Lead received for lead ${id}` })
    expect(await resent.count()).toBe(1)
  })

  it('shows events that come faster than it loads, and breathes between them', async () => {
    await stage.calls.createLead()
    const tab = await openTab(stage.browser)
    const pages: number[] = []
    const told = new EventEmitter()
    await tab.route('**/v1/list-events', async (route) => {
      pages.push(Date.now())
      told.emit('page')
      await route.fulfill({
        json: { success: true, data: [eventNumber(pages.length)], next: `${pages.length}` },
      })
    })
    await tab.route('**/v1/get-deliveries', async (route) => {
      // longer than two events
      for (let page = 0; page < 2; page += 1) await once(told, 'page')
      await route.continue()
    })
    await tab.goto(`${stage.url}#key=${stage.partner.key}`)
    await tab.getByRole('link', { name: 'Live' }).click()
    await tab
      .getByRole('row', { name: /Lead received \d+ .* Delivered/ })
      .first()
      .waitFor()
    const gaps = pages.slice(1).map((at, index) => at - (pages[index] ?? 0))
    expect(Math.min(...gaps)).toBeGreaterThan(400)
  })

  it('waits as long as a 429 asks it to, with and without a wait for news', async () => {
    const tab = await openTab(stage.browser)
    const asked: { at: number; wait: number }[] = []
    const answered = new EventEmitter()
    await tab.route('**/v1/list-events', async (route) => {
      const { wait } = route.request().postDataJSON() as { wait: number }
      asked.push({ at: Date.now(), wait })
      if (asked.length === 1) return route.continue()
      if (asked.length === 4) answered.emit('four')
      const error = { code: 'RATE_LIMITED', message: 'Too many requests.' }
      return route.fulfill({ status: 429, headers: { 'retry-after': '2' }, json: { success: false, error } })
    })
    const four = once(answered, 'four')
    await tab.goto(`${stage.url}#key=${stage.partner.key}`)
    await tab.locator('.livemark.live').waitFor()
    await four
    expect(asked.map(({ wait }) => wait)).toEqual([0, 25, 0, 0])
    const gaps = asked.slice(2).map(({ at }, index) => at - (asked[index + 1]?.at ?? 0))
    expect(Math.min(...gaps)).toBeGreaterThan(1900)
    await tab.getByText('Reconnecting').waitFor()
  })

  it('is five tab stops from signing in to a resend', async () => {
    const tab = await openTab(stage.browser)
    await tab.goto(stage.url)
    await tab.locator('input:focus').fill(stage.partner.key)
    await tab.keyboard.press('Enter')
    await tab.locator('h1:focus', { hasText: 'Leads' }).waitFor()
    await tab.keyboard.press('Shift+Tab')
    await tab.keyboard.press('Shift+Tab')
    await tab.keyboard.press('Enter')
    await tab.locator('h1:focus', { hasText: 'Live' }).waitFor()
    await tab.getByRole('row').nth(1).waitFor()
    for (let stop = 0; stop < 3; stop += 1) await tab.keyboard.press('Tab')
    const before = stage.partner.endpoint.arrivals.length
    await tab.locator('button:focus', { hasText: 'Resend' }).press('Enter')
    await until(async () => stage.partner.endpoint.arrivals.length > before)
    expect(stage.partner.endpoint.arrivals.at(-1)?.replay).toBe('true')
  })
})
