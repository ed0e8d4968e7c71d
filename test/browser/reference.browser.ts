import { afterEach, beforeAll, describe, expect, it } from '@jest/globals'
import type { Browser } from 'playwright-core'
import { until } from '../support/until.ts'
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

  it('show a section of a guide at its address, and lead from one to another', async () => {
    const tab = await openTab(browser, { viewport: { width: 1280, height: 800 } })
    await tab.goto(`${host}/docs#description/handle-repeats-and-order`)
    await tab.getByRole('heading', { name: 'Handle repeats and order' }).waitFor()
    await tab.locator('.markdown a[href="#description/verify-the-signature"]').last().click()
    const heading = tab.getByRole('heading', { name: 'Verify the signature' })
    await until(async () => {
      const { y = -1 } = (await heading.boundingBox()) ?? {}
      return y >= 0 && y < 800
    })
    expect(tab.complaints).toEqual([])
  })
})
