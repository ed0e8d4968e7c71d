import { describe, expect, it } from '@jest/globals'
import { useStage } from './console.ts'

const steps = ['Client account created', 'Credit scan completed', 'Contract signed', 'Escrow funded']

describe('acting on a lead in the console', () => {
  const stage = useStage()

  it('simulates its milestones, and advances its clock by a score update to the end', async () => {
    const id = await stage.calls.createLead()
    const tab = await stage.open(`#/leads/${id}`)
    await tab.getByRole('button', { name: steps[0], exact: true }).focus()
    for (const step of steps) {
      await tab.locator('button:focus', { hasText: step }).press('Enter')
      await tab.getByText(`${step} is recorded.`).waitFor()
    }
    await tab.getByRole('button', { name: 'To the next score update' }).click()
    await tab.getByText('1 event, 1 webhook attempt.').waitFor()
    await tab.locator('.event', { hasText: 'Score update' }).getByText('Delivered').waitFor()
    await tab.getByText('Times on this page follow this lead’s clock, which is 45 days ahead').waitFor()
    await tab.getByText('Its clock shows').waitFor()
    const event = tab.locator('.event', { hasText: 'Score update' })
    await event.locator('summary').click()
    expect(await event.locator('.attempts').textContent()).toMatch(/now|seconds ago/)
    expect(await tab.locator('.journey li', { hasText: 'Lead received' }).textContent()).toMatch(
      /45 days ago/,
    )
    await tab.getByRole('button', { name: 'Mortgage ready', exact: true }).press('Enter')
    await tab.locator('.head').getByText('Mortgage ready').waitFor()
    await tab.locator('section:focus', { hasText: 'Make something happen' }).waitFor()
    const closing = tab.getByRole('button', { name: 'To the end' })
    await closing.press('Enter')
    await tab.locator('.head').getByText('Closed', { exact: true }).waitFor()
    await tab.locator('section:focus', { hasText: 'This lead is closed' }).waitFor()
    expect(await closing.count()).toBe(0)
    expect(await tab.getByRole('button', { name: 'Run scenario' }).count()).toBe(0)
    const dates = tab.locator('.facts > div').filter({ hasText: /^(Created|Last change|Closed)/ })
    expect(await dates.locator('dt').allTextContents()).toEqual(['Created', 'Last change', 'Closed'])
    expect(await tab.getByText('Its clock shows').count()).toBe(0)
    expect(tab.complaints).toEqual([])
  })

  it('shows the same as curl, without the key', async () => {
    const id = await stage.calls.createLead()
    const tab = await stage.open(`#/leads/${id}`)
    await tab.getByLabel('Any other milestone').selectOption('Contract signed')
    const row = tab.locator('.actions', { hasText: 'Simulate “Contract signed”' })
    await row.getByText('As curl').click()
    const curl = await row.getByRole('group').last().textContent()
    expect(curl).toContain(`-d '{"lead_id":${id},"event_name":"contract_signed"}'`)
    expect(curl).not.toContain(stage.partner.key)
    await row.getByRole('button', { name: 'Simulate' }).click()
    await tab.getByText('Contract signed is recorded.').waitFor()
    await tab.getByRole('link', { name: 'Leads' }).first().click()
    await tab
      .getByRole('row', { name: /Contract signed All delivered/ })
      .first()
      .waitFor()
  })

  it('runs a whole journey with a new lead', async () => {
    const tab = await stage.open('#/leads/new')
    await tab.getByRole('combobox').selectOption('Ready after two updates')
    await tab.getByRole('button', { name: 'Run scenario' }).click()
    await tab.getByRole('heading', { level: 1, name: /^Lead \d+$/ }).waitFor()
    await tab.locator('.head').getByText('Mortgage ready').waitFor()
    await tab.locator('.journey').getByText('×2').waitFor()
    expect(tab.complaints).toEqual([])
  })
})
