import { existsSync } from 'node:fs'
import path from 'node:path'
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core'
import { atEnd } from '../support/at-end.ts'

const places = [
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/usr/bin/microsoft-edge',
  '/snap/bin/chromium',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
  '/Applications/Microsoft Edge.app/Contents/MacOS/Microsoft Edge',
  ...[process.env.PROGRAMFILES, process.env['PROGRAMFILES(X86)'], process.env.LOCALAPPDATA].flatMap(
    (folder) =>
      folder === undefined
        ? []
        : [
            path.join(folder, 'Google/Chrome/Application/chrome.exe'),
            path.join(folder, 'Microsoft/Edge/Application/msedge.exe'),
          ],
  ),
]

/** Starts the Chrome, Chromium or Edge of this machine. Nothing is downloaded. */
export async function startBrowser(): Promise<Browser> {
  const executablePath = process.env.BROWSER_PATH ?? places.find((place) => existsSync(place))
  if (executablePath === undefined) {
    throw new Error(
      'No Chrome, Chromium or Edge is installed: install one, or set BROWSER_PATH to its program.',
    )
  }
  // Chromium's own sandbox does not work for root, as which CI runs
  const args = process.getuid?.() === 0 ? ['--no-sandbox'] : []
  const browser = await chromium.launch({ executablePath, args })
  atEnd(() => browser.close())
  return browser
}

export interface Tab extends Page {
  /** What the browser complained about: blocked by the content security policy, thrown, or not loaded. */
  complaints: string[]
}

/** A tab with nothing of earlier ones in it. */
export async function openTab(browser: Browser, options: BrowserContextOptions = {}): Promise<Tab> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options })
  await context.grantPermissions(['clipboard-read', 'clipboard-write'])
  const page = await context.newPage()
  page.setDefaultTimeout(15_000)
  const complaints: string[] = []
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) complaints.push(message.text())
  })
  page.on('pageerror', (error) => complaints.push(error.message))
  return Object.assign(page, { complaints })
}
