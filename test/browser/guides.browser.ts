import { afterEach, beforeAll, describe, expect, it } from '@jest/globals'
import type { Browser } from 'playwright-core'
import { sharedService } from '../support/shared-service.ts'
import { openTab, startBrowser } from './browser.ts'
import { findings } from './findings.ts'

const pages = [
  '/docs/integrate',
  '/docs/webhooks',
  '/docs/sandbox',
  '/docs/typescript',
  '/docs/python',
  '/docs/limits',
  '/docs/changes',
  '/docs/errors#RATE_LIMITED',
  '/docs/search?q=webhook+signature+verify',
]

describe('the pages below /docs', () => {
  let browser: Browser
  let host: string
  beforeAll(async () => {
    const [{ port }, started] = await Promise.all([sharedService(), startBrowser()])
    host = `http://127.0.0.1:${port}`
    browser = started
  })
  afterEach(async () => {
    await Promise.all(browser.contexts().map((context) => context.close()))
  })

  it.each(['light', 'dark'] as const)('have nothing that axe finds, in the %s theme', async (colorScheme) => {
    const tab = await openTab(browser, { colorScheme })
    for (const page of pages) {
      await tab.goto(host + page)
      expect([page, await findings(tab)]).toEqual([page, []])
    }
    expect(tab.complaints).toEqual([])
  })

  it.each([400, 1280])('fit a screen of %i pixels', async (width) => {
    const tab = await openTab(browser, { viewport: { width, height: 800 } })
    for (const page of pages) {
      await tab.goto(host + page)
      const tooWide = 'document.documentElement.scrollWidth - document.documentElement.clientWidth'
      expect([page, await tab.evaluate(tooWide)]).toEqual([page, 0])
    }
  })

  it('lead from the reference by the search to a section', async () => {
    const tab = await openTab(browser, { viewport: { width: 1280, height: 800 } })
    await tab.goto(`${host}/docs`)
    const field = tab.getByRole('searchbox')
    await field.fill('webhook signature verify')
    await field.press('Enter')
    await tab.getByRole('link', { name: 'Verify the signature' }).first().click()
    await tab.getByRole('heading', { name: 'Verify the signature' }).waitFor()
    expect(new URL(tab.url()).pathname + new URL(tab.url()).hash).toBe('/docs/webhooks#verify-the-signature')
  })

  it('show a call with the samples of the clients first, and with no others', async () => {
    const tab = await openTab(browser, { viewport: { width: 1280, height: 800 } })
    await tab.goto(`${host}/docs#tag/leads/POST/create-lead`)
    const chosen = tab.locator('button', { hasText: 'TypeScript' }).locator('visible=true').first()
    await chosen.click()
    const offered = tab.getByRole('option').locator('visible=true')
    await offered.first().waitFor()
    expect(await offered.allInnerTexts()).toEqual(['TypeScript', 'Python', 'curl'])
    expect(tab.complaints).toEqual([])
  })
})
