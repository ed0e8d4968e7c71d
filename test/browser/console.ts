import { afterEach, beforeAll } from '@jest/globals'
import type { Browser, BrowserContextOptions } from 'playwright-core'
import { partnerCalls, prepareService, type Service, type TestPartner } from '../support/service.ts'
import { openTab, startBrowser, type Tab } from './browser.ts'

export interface Stage {
  service: Service
  partner: TestPartner
  browser: Browser
  /** The address of the console. */
  url: string
  calls: ReturnType<typeof partnerCalls>
  /** A tab that is signed in, at a view such as `#/endpoint`. */
  open: (view?: string, options?: BrowserContextOptions) => Promise<Tab>
}

/** The whole service and a browser, for the tests of one file. */
export function useStage(): Stage {
  const stage = {} as Stage
  beforeAll(async () => {
    const [service, browser] = await Promise.all([prepareService(), startBrowser()])
    const [api] = await Promise.all([service.startApi(), service.startWorker()])
    const partner = await service.addPartner()
    const url = `http://127.0.0.1:${api.port}/console`
    const open = async (view = '#/leads', options: BrowserContextOptions = {}) => {
      const tab = await openTab(browser, options)
      await tab.goto(`${url}#key=${partner.key}`)
      await tab.getByRole('heading', { level: 1, name: 'Leads' }).waitFor()
      await tab.goto(`${url}${view}`)
      await tab.getByRole('heading', { level: 1 }).waitFor()
      return tab
    }
    Object.assign(stage, { service, partner, browser, url, open, calls: partnerCalls(api.port, partner.key) })
  })
  // a key has two waits at a time
  afterEach(async () => {
    await Promise.all(stage.browser.contexts().map((context) => context.close()))
  })
  return stage
}
