import { beforeAll, describe, expect, it } from '@jest/globals'
import { until } from '../support/until.ts'
import { openTab, type Tab } from './browser.ts'
import { useStage } from './console.ts'
import { findings } from './findings.ts'

const MOST_BYTES = 100_000
const filesLoaded = `[...performance.getEntriesByType('navigation'), ...performance.getEntriesByType('resource')]
  .map(({ name }) => name)`
/** By how much the page, or a table in it, is too wide. */
const overflow = `Math.max(...[document.documentElement, ...document.querySelectorAll('.table')]
  .map(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth))`

/** Opens all that can be opened, and what is in it. */
async function openAll(tab: Tab): Promise<void> {
  await tab.locator('.loading').waitFor({ state: 'detached' })
  const open = `[...document.querySelectorAll('main details:not([open])')].map((one) => (one.open = true)).length`
  await until(async () => (await tab.evaluate(open)) === 0)
  await until(async () => (await tab.locator('.loading').count()) === 0)
}

describe('every view of the console', () => {
  const stage = useStage()
  let leadId = 0
  let closedId = 0
  const views = () => ({
    leads: '#/leads',
    'no leads': '#/leads?partner_lead_id=none',
    'new lead': '#/leads/new',
    lead: `#/leads/${leadId}`,
    'closed lead': `#/leads/${closedId}`,
    'unknown lead': '#/leads/99999',
    endpoint: '#/endpoint',
    live: '#/live',
    requests: '#/requests',
    'no requests': '#/requests?status=503',
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
    const failing = await stage.calls.createLead()
    await until(async () =>
      stage.partner.endpoint.arrivals.some(({ event }) => event.data.lead_id === failing),
    )
  })

  it.each(['light', 'dark'] as const)('has nothing that axe finds, in the %s theme', async (colorScheme) => {
    const signIn = await openTab(stage.browser, { colorScheme })
    await signIn.goto(`${stage.url}#key=prs_live_1`)
    await signIn.getByRole('alert').waitFor()
    expect(await findings(signIn)).toEqual([])
    const tab = await stage.open('#/leads', { colorScheme, reducedMotion: 'reduce' })
    for (const [name, view] of Object.entries(views())) {
      await tab.goto(`${stage.url}${view}`)
      await tab.getByRole('heading', { level: 1 }).waitFor()
      await openAll(tab)
      expect([name, await findings(tab)]).toEqual([name, []])
    }
  })

  it.each([360, 1280, 2560])('fits a screen of %i pixels', async (width) => {
    const tab = await stage.open('#/leads', { viewport: { width, height: 800 } })
    for (const [name, view] of Object.entries(views())) {
      await tab.goto(`${stage.url}${view}`)
      await tab.getByRole('heading', { level: 1 }).waitFor()
      await openAll(tab)
      expect([name, await tab.evaluate(overflow)]).toEqual([name, 0])
    }
  })

  it('shows the last attempt and resends on a narrow screen, too', async () => {
    const tab = await stage.open('#/live', { viewport: { width: 400, height: 800 } })
    const row = tab.getByRole('row', { name: `Contract signed Lead ${leadId}` })
    await row.locator('.narrow-only', { hasText: /^200 · \d/ }).waitFor()
    await row.getByRole('button', { name: 'Resend' }).click()
    await row.locator('.narrow-only', { hasText: 'Resent' }).waitFor()
    expect(await tab.evaluate(overflow)).toBe(0)
  })

  it('loads less than 100 kB, all of it from here', async () => {
    for (const [name, view] of Object.entries(views())) {
      const tab = await stage.open()
      // a page of its own, so that nothing of the view before counts
      await tab.goto('about:blank')
      await tab.goto(`${stage.url}${view}`)
      await tab.getByRole('heading', { level: 1 }).waitFor()
      const urls = (await tab.evaluate(filesLoaded)) as string[]
      expect(urls.filter((url) => !url.startsWith(new URL(stage.url).origin))).toEqual([])
      // a file that is named twice comes once
      const files = [...new Set(urls)].filter((url) => url.startsWith(stage.url))
      const bodies = await Promise.all(files.map(async (url) => (await fetch(url)).arrayBuffer()))
      const bytes = bodies.reduce((total, body) => total + body.byteLength, 0)
      expect([name, files.length > 10, bytes < MOST_BYTES]).toEqual([name, true, true])
      await tab.context().close()
    }
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
