import { describe, expect, it } from '@jest/globals'
import { until } from '../support/until.ts'
import { openTab } from './browser.ts'
import { useStage } from './console.ts'

const SECONDS_MS = 1000

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
    await row.getByRole('button', { name: /^Resend/ }).click()
    await row.getByText('Delivered').waitFor()
    expect(tab.complaints).toEqual([])
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
