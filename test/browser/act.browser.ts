import { describe, expect, it } from '@jest/globals'
import type { Locator } from 'playwright-core'
import { until } from '../support/until.ts'
import type { Tab } from './browser.ts'
import { useStage } from './console.ts'

const steps = ['Client account created', 'Credit scan completed', 'Contract signed', 'Escrow funded']

/** The panel stays open in its tab. */
async function openPanel(tab: Tab): Promise<Tab> {
  await tab.getByRole('button', { name: 'Make something happen' }).click()
  return tab
}

const timeOf = async (time: Locator) => (await time.first().getAttribute('datetime')) ?? ''

describe('acting on a lead in the console', () => {
  const stage = useStage()

  it('simulates its milestones, and advances its clock by a score update to the end', async () => {
    const id = await stage.calls.createLead()
    const tab = await openPanel(await stage.open(`#/leads/${id}`))
    await tab.getByRole('button', { name: steps[0], exact: true }).focus()
    const next = tab.getByRole('button', { name: 'To the next score update' })
    const end = tab.getByRole('button', { name: 'To the end' })
    const off = async () => [
      await next.getAttribute('aria-disabled'),
      await end.getAttribute('aria-disabled'),
    ]
    expect(await off()).toEqual(['true', 'true'])
    await tab.getByText('no score update before escrow is funded').waitFor()
    for (const step of steps) {
      await tab.locator('button:focus', { hasText: step }).press('Enter')
      await tab.getByText(`${step} is recorded.`).waitFor()
    }
    await until(async () => (await next.getAttribute('aria-disabled')) === 'false')
    await next.click()
    await tab.getByText('The lead’s clock shows').waitFor()
    await tab.locator('.event', { hasText: 'Score update' }).getByText('Delivered').waitFor()
    await tab.getByText('Times on this page follow this lead’s clock, which is 45 days ahead').waitFor()
    const event = tab.locator('.event', { hasText: 'Score update' })
    await event.getByRole('button', { name: 'Score update' }).click()
    const recorded = event.locator('tr').first().locator('time:visible')
    const made = event.getByRole('table', { name: 'Attempts' }).locator('time')
    const days = (Date.parse(await timeOf(recorded)) - Date.parse(await timeOf(made))) / 86_400_000
    expect(Math.round(days)).toBe(45)
    expect(await event.getByRole('columnheader', { name: 'Made real time, UTC' }).count()).toBe(1)
    await tab.getByRole('button', { name: 'Mortgage ready', exact: true }).press('Enter')
    await tab.locator('.head').getByText('Mortgage ready').waitFor()
    await tab.locator('section:focus', { hasText: 'Make something happen' }).waitFor()
    await until(async () => (await end.getAttribute('aria-disabled')) === 'false')
    await end.press('Enter')
    await tab.locator('.head').getByText('Closed', { exact: true }).waitFor()
    await tab.locator('section:focus', { hasText: 'This lead is closed' }).waitFor()
    expect(await end.count()).toBe(0)
    expect(await tab.getByRole('button', { name: 'Run scenario' }).count()).toBe(0)
    const dates = tab.locator('.facts > div').filter({ hasText: /^(Created|Last change|Closed)/ })
    expect(await dates.locator('dt').allTextContents()).toEqual(['Created', 'Last change', 'Closed'])
    expect(tab.complaints).toEqual([])
  })

  it('offers what can still happen, and is not green about what changed nothing', async () => {
    const id = await stage.calls.createLead()
    await stage.calls.post('sandbox/simulate-event', { lead_id: id, event_name: 'contract_signed' })
    const tab = await openPanel(await stage.open(`#/leads/${id}`))
    const others = tab.getByLabel('Any other milestone')
    await others.waitFor()
    expect(await others.locator('option').allTextContents()).toEqual([
      'Client account created',
      'Credit scan completed',
      'Client engaged in chat',
      'Score update',
      'Mortgage ready',
    ])
    // meanwhile somebody else made it happen
    await tab.route('**/v1/sandbox/simulate-event', async (route) => {
      await stage.calls.post('sandbox/simulate-event', { lead_id: id, event_name: 'escrow_funded' })
      await route.continue()
    })
    await tab.getByRole('button', { name: 'Escrow funded', exact: true }).click()
    const told = tab.getByText('Escrow funded was already recorded.')
    await told.waitFor()
    expect(await told.getAttribute('class')).toBe('dim')
    await tab.getByLabel('Reason').selectOption('Withdrew')
    const close = tab.getByRole('button', { name: 'Close the lead …' })
    await close.click()
    const question = tab.getByRole('alertdialog', { name: `Close lead ${id}?` })
    await question.getByRole('button', { name: 'Keep it open' }).click()
    await question.waitFor({ state: 'detached' })
    await close.click()
    await question.getByRole('button', { name: 'Close the lead' }).click()
    await tab.locator('.head').getByText('Closed', { exact: true }).waitFor()
    await tab.locator('.facts', { hasText: '(withdrew)' }).waitFor()
    expect(tab.complaints).toEqual([])
  })

  it('shows the same as curl, without the key', async () => {
    const id = await stage.calls.createLead()
    const tab = await openPanel(await stage.open(`#/leads/${id}`))
    await tab.getByLabel('Any other milestone').selectOption('Contract signed')
    await tab.getByText('As curl').first().click()
    const curl = await tab.getByRole('group', { name: 'Simulate “Contract signed”' }).textContent()
    expect(curl).toContain(`-d '{"lead_id":${id},"event_name":"contract_signed"}'`)
    expect(curl).not.toContain(stage.partner.key)
    await tab.getByRole('button', { name: 'Simulate “Contract signed”' }).click()
    await tab.getByText('Contract signed is recorded.').waitFor()
    await tab.getByRole('link', { name: 'Leads' }).first().click()
    await tab
      .getByRole('row', { name: /Contract signed All delivered/ })
      .first()
      .waitFor()
  })

  it('runs a whole journey with a new lead', async () => {
    const tab = await stage.open('#/leads/new')
    await tab.getByRole('combobox', { name: /^Scenario/ }).selectOption('Ready after two updates')
    await tab.getByRole('button', { name: 'Run scenario' }).click()
    await tab.getByRole('heading', { level: 1, name: /^Lead \d+$/ }).waitFor()
    await tab.locator('.head').getByText('Mortgage ready').waitFor()
    await tab.locator('.journey').getByText('×2').waitFor()
    const heights = await tab
      .locator('.event')
      .evaluateAll((rows) => rows.map((row) => row.getBoundingClientRect().height))
    expect(heights).toHaveLength(8)
    expect(Math.max(...heights)).toBeLessThan(60)
    expect(tab.complaints).toEqual([])
  })
})
