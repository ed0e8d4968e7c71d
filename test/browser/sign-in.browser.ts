import { describe, expect, it } from '@jest/globals'
import { openTab } from './browser.ts'
import { useStage } from './console.ts'

const storedKey = 'sessionStorage.getItem("partner-key")'

describe('signing in to the console', () => {
  const stage = useStage()

  it('takes a key that is typed, and keeps it for this tab', async () => {
    const tab = await openTab(stage.browser)
    await tab.goto(stage.url)
    await tab.getByLabel('Your sandbox key').fill(stage.partner.key)
    await tab.keyboard.press('Enter')
    await tab.getByRole('heading', { name: 'No leads yet' }).waitFor()
    expect(await tab.evaluate(storedKey)).toBe(stage.partner.key)
    await tab.reload()
    await tab.getByRole('heading', { name: 'No leads yet' }).waitFor()
    expect(await tab.context().cookies()).toEqual([])
    expect(tab.complaints).toEqual([])
  })

  it('takes a key from the fragment, and removes it from the address and the history', async () => {
    const tab = await openTab(stage.browser)
    await tab.goto(`${stage.url}#key=${stage.partner.key}`)
    await tab.getByRole('heading', { name: 'No leads yet' }).waitFor()
    expect(tab.url()).not.toContain('prs_test_')
    await tab.getByRole('link', { name: 'Endpoint' }).click()
    await tab.getByRole('heading', { level: 1, name: 'Endpoint' }).waitFor()
    await tab.goBack()
    await tab.getByRole('heading', { level: 1, name: 'Leads' }).waitFor()
    expect(tab.url()).not.toContain('prs_test_')
  })

  it('opens every view by its item of the menu', async () => {
    const tab = await stage.open()
    const items = tab.getByRole('navigation', { name: 'Main' }).getByRole('link')
    const titles = await items.allTextContents()
    expect(titles).toEqual(['Leads', 'Endpoint', 'Live'])
    for (const name of titles.toReversed()) {
      await items.getByText(name, { exact: true }).click()
      await tab.getByRole('heading', { level: 1, name, exact: true }).waitFor()
    }
    expect(tab.complaints).toEqual([])
  })

  it('takes a key from a link that is pasted into a tab with the console', async () => {
    const tab = await openTab(stage.browser)
    const paste = (key: string) => tab.goto(`${stage.url}#key=${key}`)
    await tab.goto(stage.url)
    await tab.getByLabel('Your sandbox key').waitFor()
    await paste(stage.partner.key)
    await tab.getByRole('heading', { name: 'No leads yet' }).waitFor()
    expect(tab.url()).toBe(stage.url)

    const other = await stage.service.addPartner()
    await tab.getByRole('link', { name: 'Endpoint' }).click()
    await tab.getByRole('heading', { level: 1, name: 'Endpoint' }).waitFor()
    await paste(other.key)
    const question = tab.getByRole('alertdialog')
    await question.filter({ hasText: 'The link contains the key' }).waitFor()
    expect(await tab.evaluate(storedKey)).toBe(stage.partner.key)
    // the question has the focus, and nothing behind it can be reached
    await tab.locator('dialog button:focus', { hasText: 'Stay signed in' }).waitFor()
    await tab.keyboard.press('Escape')
    await question.waitFor({ state: 'detached' })
    await paste(other.key)
    await question.getByRole('button', { name: 'Stay signed in' }).click()
    await question.waitFor({ state: 'detached' })
    expect(await tab.evaluate(storedKey)).toBe(stage.partner.key)
    await paste(other.key)
    await question.getByRole('button', { name: 'Use the other key' }).click()
    await tab.locator('.key', { hasText: other.key.slice(-4) }).waitFor()
    await tab.getByRole('heading', { name: 'No leads yet' }).waitFor()
    expect(tab.url()).toBe(stage.url)
    expect(await tab.evaluate(storedKey)).toBe(other.key)

    await paste('prs_live_0123456789')
    await tab.getByRole('alert').filter({ hasText: 'This is a production key' }).waitFor()
    expect(tab.url()).toBe(stage.url)
    expect(await tab.evaluate(storedKey)).toBe(other.key)
  })

  it('asks before a link replaces the key of a tab that is opened anew', async () => {
    const tab = await stage.open('#/leads')
    const other = await stage.service.addPartner()
    const sent: string[] = []
    tab.on('request', (request) => sent.push(request.headers().authorization ?? ''))
    await tab.goto('about:blank')
    await tab.goto(`${stage.url}#key=${other.key}`)
    await tab.getByRole('alertdialog').waitFor()
    await tab.getByText('Leads', { exact: true }).first().waitFor()
    expect(sent.filter((authorization) => authorization.includes(other.key))).toEqual([])
    expect(await tab.evaluate(storedKey)).toBe(stage.partner.key)
    expect(tab.url()).toBe(stage.url)
  })

  it.each(['%', 'prs_test_%E0%A4%A', '%zz'])('says that %s in a link is not a key', async (key) => {
    const tab = await openTab(stage.browser)
    await tab.goto(`${stage.url}#key=${key}`)
    await tab.getByLabel('Your sandbox key').or(tab.getByRole('alert')).first().waitFor()
    expect(tab.url()).toBe(stage.url)
  })

  it('refuses a production key with a reason, and neither stores nor sends it', async () => {
    const tab = await openTab(stage.browser)
    const sent: string[] = []
    tab.on('request', (request) => sent.push(`${request.url()} ${request.headers().authorization}`))
    await tab.goto(`${stage.url}#key=prs_live_0123456789`)
    await tab.getByRole('alert').filter({ hasText: 'This is a production key' }).waitFor()
    await tab.getByLabel('Your sandbox key').fill('prs_live_9876543210')
    await tab.getByRole('button', { name: 'Sign in' }).click()
    await tab.getByRole('alert').filter({ hasText: 'The key was neither stored nor sent' }).waitFor()
    expect(await tab.evaluate(storedKey)).toBeNull()
    expect(sent.filter((request) => request.includes('prs_live_') || request.includes('/v1/'))).toEqual([])
    expect(tab.url()).toBe(stage.url)
  })

  it('refuses a key as it is shown shortened, and neither stores nor sends it', async () => {
    const tab = await openTab(stage.browser)
    const sent: string[] = []
    tab.on('request', (request) => sent.push(request.url()))
    await tab.goto(`${stage.url}#key=prs_test_%E2%80%A6ab12`)
    const alert = tab.getByRole('alert').filter({ hasText: 'This key is mistyped or shortened' })
    await alert.waitFor()
    await tab.getByLabel('Your sandbox key').fill('prs_test_…ab12')
    await tab.getByRole('button', { name: 'Sign in' }).click()
    await alert.waitFor()
    expect(await tab.evaluate(storedKey)).toBeNull()
    expect(sent.filter((url) => url.includes('/v1/'))).toEqual([])
  })

  it('says why a key does not work, and forgets it on signing out', async () => {
    const tab = await openTab(stage.browser)
    await tab.goto(stage.url)
    const key = tab.getByLabel('Your sandbox key')
    const alert = tab.getByRole('alert')
    await key.fill('prs_test_unknown')
    await tab.getByRole('button', { name: 'Sign in' }).click()
    await alert.filter({ hasText: 'The API does not accept this key' }).waitFor()
    await key.fill('prs_live_0123456789')
    await tab.getByRole('button', { name: 'Sign in' }).click()
    await alert.filter({ hasText: 'This is a production key' }).waitFor()
    expect(await alert.count()).toBe(1)
    // at the field, which has the focus
    await tab.locator('[name=key][aria-invalid=true]:focus').waitFor()
    expect(await key.getAttribute('aria-describedby')).toBe(`${await alert.getAttribute('id')} key-hint`)
    await key.fill(stage.partner.key)
    await tab.getByRole('button', { name: 'Sign in' }).click()
    await tab.getByRole('heading', { name: 'No leads yet' }).waitFor()
    expect(await alert.count()).toBe(0)
    await tab.getByRole('button', { name: 'Sign out' }).click()
    await key.waitFor()
    expect(await alert.count()).toBe(0)
    expect(await tab.evaluate(storedKey)).toBeNull()
  })

  it('does not say of an unknown key in a link that it was signed in, nor anything once another one is', async () => {
    const tab = await openTab(stage.browser)
    await tab.goto(`${stage.url}#key=prs_test_unknown`)
    const alert = tab.getByRole('alert')
    await alert.filter({ hasText: 'it may be mistyped, expired or revoked' }).waitFor()
    expect(await tab.getByText('signed out').count()).toBe(0)
    await tab.getByLabel('Your sandbox key').fill(stage.partner.key)
    await tab.keyboard.press('Enter')
    await tab.getByRole('heading', { name: 'No leads yet' }).waitFor()
    expect(await alert.count()).toBe(0)
  })
})
