import { describe, expect, it } from '@jest/globals'
import { until } from '../support/until.ts'
import { useStage } from './console.ts'

const LONG_MS = 60_000

describe('a population in the console', () => {
  const stage = useStage()

  it('is run from its form, shows how far it is, and a report that leads to its leads', async () => {
    const tab = await stage.open('#/sandbox')
    await tab.getByRole('link', { name: 'Open population' }).click()
    await tab.getByRole('heading', { level: 1, name: 'Population' }).waitFor()
    await tab.getByLabel('Borrowers').fill('2')
    await tab.getByLabel('Seed').fill('42')
    await tab.getByText('As curl').click()
    expect(await tab.getByRole('group', { name: 'POST /v1/sandbox/run-population' }).textContent()).toContain(
      `-d '{"size":2,"seed":42}'`,
    )
    await tab.getByRole('button', { name: 'Run population' }).click()
    await tab.getByText('of 2 journeys over').waitFor()
    const report = tab.getByRole('region', { name: 'Report' })
    await report.waitFor({ timeout: LONG_MS })
    await tab.locator('.head').getByText('Done').waitFor()
    await report.getByText(/^2 lived through the whole year|^1 lived/).waitFor()
    await report.locator('dt', { hasText: 'Kinds of journeys' }).waitFor()
    await report.getByRole('link', { name: 'See their leads' }).click()
    await until(async () => (await tab.locator('tbody td.id', { hasText: 'POPULATION-' }).count()) === 2)
    await tab.goBack()
    await report
      .getByRole('link', { name: /, lead \d+$/ })
      .first()
      .click()
    await tab.getByRole('heading', { level: 1, name: /^Lead \d+$/ }).waitFor()
    expect(tab.complaints).toEqual([])
  })

  it('is canceled, and says why another one cannot begin', async () => {
    const tab = await stage.open('#/sandbox/population')
    await tab.getByLabel('Borrowers').fill('200')
    await tab.getByText('Journeys', { exact: true }).click()
    await tab.getByLabel('Erased').fill('0')
    await tab.getByRole('button', { name: 'Run population' }).click()
    await tab.getByText('of 200 journeys over').waitFor()
    expect(await tab.getByRole('button', { name: 'Run population' }).count()).toBe(0)
    await tab.getByRole('button', { name: 'Cancel' }).click()
    await tab.locator('.head').getByText('Canceled').waitFor({ timeout: LONG_MS })
    await tab.getByRole('button', { name: 'Run population' }).waitFor()
  })

  it('says what is wrong at the fields that are, and goes to the first', async () => {
    const tab = await stage.open('#/sandbox/population')
    const run = tab.getByRole('button', { name: 'Run population' })
    const alert = tab.getByRole('alert')
    const wrong = (name: string) => tab.locator(`[name=${name}][aria-describedby~=${name}-problem]`)
    await tab.getByLabel('Refuse one webhook in').fill('20')
    await run.click()
    await alert.filter({ hasText: 'Not started. Change “Refuse one webhook in …”.' }).waitFor()
    await wrong('one_in').and(tab.locator(':focus')).waitFor()
    await tab.locator('#one_in-problem', { hasText: 'needs the sink as your endpoint' }).waitFor()
    await tab.getByLabel('Refuse one webhook in').fill('')
    await tab.getByLabel('Borrowers').fill('1001')
    await tab.getByText('Journeys', { exact: true }).click()
    await tab.getByLabel('Stalled').fill('-1')
    await run.click()
    await alert.filter({ hasText: 'Not started. Change “Borrowers, up to 1,000”, “Stalled”.' }).waitFor()
    await wrong('size').and(tab.locator(':focus')).waitFor()
    await tab.getByLabel('Borrowers').fill('2')
    await tab.getByText('Journeys', { exact: true }).click()
    expect(await tab.getByLabel('Stalled').isVisible()).toBe(false)
    await run.click()
    await wrong('stalled').and(tab.locator(':focus')).waitFor()
  })

  it('is not found by another id', async () => {
    const tab = await stage.open('#/sandbox/population?id=2147483647')
    await tab.getByRole('heading', { level: 1, name: 'Population not found' }).waitFor()
    const latest = tab.getByRole('link', { name: 'See the latest' })
    expect(await latest.getAttribute('href')).toBe('#/sandbox/population')
  })
})
