import { afterEach, beforeAll, describe, expect, it } from '@jest/globals'
import type { Browser } from 'playwright-core'
import { sharedService } from '../support/shared-service.ts'
import { openTab, startBrowser } from './browser.ts'

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
