import { beforeAll, describe, expect, it } from '@jest/globals'
import { until } from '../support/until.ts'
import { openTab, type Tab } from './browser.ts'
import { useStage } from './console.ts'
import { findings } from './findings.ts'

const MOST_BYTES = 150_000
const filesLoaded = `[...performance.getEntriesByType('navigation'), ...performance.getEntriesByType('resource')]
  .map(({ name }) => name)`
/** By how much the page, or a table in it, is too wide. */
const overflow = `Math.max(...[document.documentElement, ...document.querySelectorAll('.table')]
  .map(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth))`

/** Opens all that can be opened, and what is in it. */
async function openAll(tab: Tab): Promise<void> {
  await until(async () => (await tab.locator('.loading').count()) === 0)
  const open = `[...document.querySelectorAll('main details:not([open])')].map((one) => (one.open = true)).length`
  await until(async () => (await tab.evaluate(open)) === 0)
  const closed = tab.locator('main button[aria-expanded=false]:visible')
  while ((await closed.count()) > 0) await closed.first().click()
  await until(async () => (await tab.evaluate(open)) === 0)
  await until(async () => (await tab.locator('.loading').count()) === 0)
}

describe('every view of the console', () => {
  const stage = useStage()
  let leadId = 0
  let closedId = 0
  let failingId = 0
  const views = () => ({
    leads: '#/leads',
    'no leads': '#/leads?search=none',
    'new lead': '#/leads/new',
    lead: `#/leads/${leadId}`,
    'failing lead': `#/leads/${failingId}`,
    'closed lead': `#/leads/${closedId}`,
    'unknown lead': '#/leads/99999',
    endpoint: '#/endpoint',
    live: '#/live',
    'unknown page': '#/nothing',
  })

  beforeAll(async () => {
    leadId = await stage.calls.createLead({ partner_lead_id: 'LOAN-2026-118-with-a-rather-long-identifier' })
    await stage.service.referrals.signal(leadId, 'contract_signed')
    await stage.partner.endpoint.until((arrivals) => arrivals.length === 2)
    closedId = await stage.calls.createLead()
    await stage.calls.post('sandbox/simulate-event', { lead_id: closedId, event_name: 'mortgage_ready' })
    await stage.calls.post('sandbox/advance-clock', { lead_id: closedId, to: 'end' })
    stage.partner.endpoint.answer = (_, response) => void response.writeHead(503).end()
    failingId = await stage.calls.createLead({ partner_lead_id: 'LOAN-118' })
    await until(async () =>
      stage.partner.endpoint.arrivals.some(({ event }) => event.data.lead_id === failingId),
    )
  })

  /** What axe finds in both themes. */
  const inBothThemes = async (tab: Tab) => {
    const found: string[] = []
    for (const colorScheme of ['light', 'dark'] as const) {
      await tab.emulateMedia({ colorScheme })
      found.push(...(await findings(tab)).map((finding) => `${colorScheme}: ${finding}`))
    }
    return found
  }

  it('has no accessibility findings by axe, in either theme', async () => {
    const signIn = await openTab(stage.browser)
    await signIn.goto(`${stage.url}#key=prs_live_1`)
    await signIn.getByRole('alert').waitFor()
    expect(await inBothThemes(signIn)).toEqual([])
    const asked = await stage.open('#/leads')
    await asked.goto(`${stage.url}#key=prs_test_another`)
    await asked.getByRole('alertdialog').waitFor()
    expect(await inBothThemes(asked)).toEqual([])
    const tab = await stage.open('#/leads', { reducedMotion: 'reduce' })
    for (const [name, view] of Object.entries(views())) {
      await tab.goto(`${stage.url}${view}`)
      await tab.getByRole('heading', { level: 1 }).waitFor()
      await openAll(tab)
      expect([name, await inBothThemes(tab)]).toEqual([name, []])
    }
  }, 120_000)

  it('fits screens of 360 to 2,560 pixels', async () => {
    const tab = await stage.open()
    for (const [name, view] of Object.entries(views())) {
      await tab.goto(`${stage.url}${view}`)
      await tab.getByRole('heading', { level: 1 }).waitFor()
      for (const width of [360, 1280, 2560]) {
        await tab.setViewportSize({ width, height: 800 })
        // what only this width has is closed
        await openAll(tab)
        expect([name, width, await tab.evaluate(overflow)]).toEqual([name, width, 0])
      }
    }
  }, 120_000)

  it('has one page for what is not found', async () => {
    const tab = await stage.open()
    for (const view of ['#/nothing', '#/live/1', '#/sandbox/nothing']) {
      await tab.goto(`${stage.url}${view}`)
      await tab.getByRole('heading', { level: 1, name: 'Page not found' }).waitFor()
      expect(await tab.getByRole('link', { name: 'See your leads' }).getAttribute('href')).toBe('#/leads')
      await tab.goto(`${stage.url}#/leads`)
      await tab.getByRole('heading', { level: 1, name: 'Leads' }).waitFor()
    }
  })

  it('shows the last attempt and resends on a narrow screen, too', async () => {
    const tab = await stage.open('#/live', { viewport: { width: 400, height: 800 } })
    const row = tab.getByRole('row', { name: `Contract signed Lead ${leadId}` })
    await row.locator('.narrow-only', { hasText: /^200 in \d/ }).waitFor()
    await row.getByRole('button', { name: 'Resend' }).click()
    await row.locator('.narrow-only', { hasText: 'Resent' }).waitFor()
    expect(await tab.evaluate(overflow)).toBe(0)
  })

  it('loads less than 150 kB, all of it from here', async () => {
    const tab = await stage.open()
    const urls = (await tab.evaluate(filesLoaded)) as string[]
    expect(urls.filter((url) => !url.startsWith(new URL(stage.url).origin))).toEqual([])
    const files = [...new Set(urls)].filter((url) => url.startsWith(stage.url))
    const bodies = await Promise.all(files.map(async (url) => (await fetch(url)).arrayBuffer()))
    expect(files.length).toBeGreaterThan(10)
    expect(bodies.reduce((total, body) => total + body.byteLength, 0)).toBeLessThan(MOST_BYTES)
  })

  it('can be used by the keyboard alone', async () => {
    const tab = await stage.open()
    await tab.reload()
    const focused = tab.locator(':focus')
    const heading = (name: string | RegExp) => tab.getByRole('heading', { level: 1, name })
    await tab.locator('tbody tr').first().waitFor()
    await heading('Leads').and(focused).waitFor()
    await tab.keyboard.press('Tab')
    await tab.getByRole('link', { name: 'New lead' }).and(focused).waitFor()
    await tab.keyboard.press('Enter')
    await heading('New lead').and(focused).waitFor()
    await tab.keyboard.press('Tab')
    await tab.keyboard.press('Tab')
    expect(await tab.evaluate('document.activeElement.name')).toBe('last_name')
    await tab.keyboard.press('Enter')
    await heading(/^Lead \d+$/).waitFor()
  })

  it('rests while the tab is hidden', async () => {
    const tab = await stage.open()
    await tab.getByText('Live', { exact: true }).nth(1).waitFor()
    await tab.evaluate(
      `Object.defineProperty(document, 'hidden', { value: true, configurable: true });
       document.dispatchEvent(new Event('visibilitychange'))`,
    )
    await tab.getByText('Resting').waitFor()
    await tab.evaluate(`delete document.hidden; document.dispatchEvent(new Event('visibilitychange'))`)
    await tab.getByText('Resting').waitFor({ state: 'detached' })
    expect(tab.complaints).toEqual([])
  })
})
