import { beforeAll, describe, expect, it } from '@jest/globals'
import { until } from '../support/until.ts'
import { openTab, type Tab } from './browser.ts'
import { useStage } from './console.ts'

describe('leads in the console', () => {
  const stage = useStage()
  const ids: number[] = []

  /** The lenders' ids that the list shows, from top to bottom. */
  const shown = async (tab: Tab) => {
    await tab.locator('tbody tr').first().waitFor()
    return tab.locator('tbody td.id').allTextContents()
  }
  const waitFor = async (tab: Tab, names: string[]) => {
    const rows = names.map((name, index) => `tr:nth-child(${index + 1}) td.id:text-is("${name}")`)
    for (const row of rows) await tab.locator(`tbody ${row}`).waitFor()
    await tab.locator(`tbody tr:nth-child(${names.length + 1})`).waitFor({ state: 'detached' })
  }

  beforeAll(async () => {
    for (const name of ['LOAN-1', 'LOAN-10', 'LOAN-2', '7', 'LOAN-1'])
      ids.push(await stage.calls.createLead({ partner_lead_id: name }))
    await stage.calls.post('close-lead', { lead_id: ids[2], reason: 'withdrew' })
    await until(async () => {
      const { body } = await stage.calls.post('list-leads', { closed: true })
      return (body.data as unknown[]).length === 1
    })
  })

  it('are found by our id and by the lender’s, and the back button goes back to them', async () => {
    const tab = await stage.open()
    // while it is typed
    const search = tab.getByLabel('Our lead id, or the beginning of yours')
    await search.pressSequentially('LOAN-1', { delay: 20 })
    await waitFor(tab, ['LOAN-1', 'LOAN-10', 'LOAN-1'])
    expect(await search.inputValue()).toBe('LOAN-1')
    await search.fill(String(ids[1]))
    await waitFor(tab, ['LOAN-10'])
    await search.fill('7')
    await tab.getByRole('row', { name: / 7 Lead received/ }).waitFor()
    await tab
      .getByRole('row', { name: / 7 Lead received/ })
      .getByRole('link')
      .click()
    await tab.locator('h1:focus', { hasText: /^Lead \d+/ }).waitFor()
    await tab.goBack()
    await tab.getByRole('heading', { level: 1, name: 'Leads' }).waitFor()
    expect(await search.inputValue()).toBe('7')
    await search.fill('loan')
    await tab.getByText('No lead matches').waitFor()
    await tab
      .getByText(
        'Enter our full lead id, such as 1042, or the beginning of yours. Upper and lower case matter.',
      )
      .waitFor()
    expect(tab.complaints).toEqual([])
    await tab.goto(`${stage.url}#/leads/987654321`)
    await tab.getByText('There is no lead with this id').waitFor()
    await tab.locator('h1:focus', { hasText: 'Lead not found' }).waitFor()
    expect(await tab.title()).toBe('Lead not found · Partner Referral Service')
    // one call of four says so
    expect(tab.complaints).toHaveLength(1)
  })

  it('are filtered by whether they are closed', async () => {
    const tab = await stage.open('#/leads?closed=yes')
    await waitFor(tab, ['LOAN-2'])
    await tab.getByRole('button', { name: 'Filter' }).click()
    await tab.getByLabel('Open or closed').selectOption('Open')
    await waitFor(tab, ['LOAN-1', '7', 'LOAN-10', 'LOAN-1'])
    await tab.getByLabel('Status').selectOption('Mortgage ready')
    await tab.getByText('No lead matches').waitFor()
    expect(await tab.getByText('Upper and lower case matter').count()).toBe(0)
    expect(tab.complaints).toEqual([])
  })

  it('show what is no event: that one was closed', async () => {
    const id = await stage.calls.createLead({ partner_lead_id: 'LOAN-9' })
    const tab = await stage.open()
    const row = tab.getByRole('row', { name: / LOAN-9 / })
    await row.filter({ hasText: 'All delivered' }).waitFor()
    await stage.calls.post('close-lead', { lead_id: id, reason: 'withdrew' })
    await row.getByText('Closed').waitFor()
    expect(tab.complaints).toEqual([])
  })

  it('that came before a hidden tab was shown are there once it is', async () => {
    const tab = await openTab(stage.browser)
    await tab.addInitScript(
      'let hidden = true; Object.defineProperty(document, "hidden", { get: () => hidden }); window.show = () => { hidden = false; document.dispatchEvent(new Event("visibilitychange")) }',
    )
    await tab.goto(`${stage.url}#key=${stage.partner.key}`)
    await tab.locator('tbody tr').first().waitFor()
    await stage.calls.createLead({ partner_lead_id: 'LOAN-11' })
    const asked: string[] = []
    tab.on('request', (request) => asked.push(new URL(request.url()).pathname))
    await tab.evaluate('window.show()')
    await tab.getByRole('row', { name: / LOAN-11 / }).waitFor()
    // at once, and not as it is looked at again anyway
    expect(asked.filter((path) => path.endsWith('list-leads'))).toHaveLength(1)
  })

  it('are four stops of the keyboard from the heading', async () => {
    const tab = await stage.open()
    await shown(tab)
    await tab.locator('h1').focus()
    for (let stop = 0; stop < 4; stop += 1) await tab.keyboard.press('Tab')
    expect(await tab.locator('tbody tr:first-child a:focus').count()).toBe(1)
  })

  it('show their whole ids on a narrow screen, and twenty at once on a wide one', async () => {
    const names = Array.from({ length: 20 }, (_, index) => `LOAN-2026-with-a-long-prefix-${index}`)
    for (const name of names) await stage.calls.createLead({ partner_lead_id: name })
    const tab = await stage.open('#/leads', { viewport: { width: 400, height: 800 } })
    const name = tab.locator('tbody .unbroken', { hasText: names.at(-1) ?? '' })
    await name.waitFor()
    const isCut = await name.evaluate((element) => element.scrollWidth > element.clientWidth)
    expect(isCut).toBe(false)
    const wide = await stage.open('#/leads')
    await shown(wide)
    const twentieth = await wide.locator('tbody tr').nth(19).boundingBox()
    expect((twentieth?.y ?? 0) + (twentieth?.height ?? 0)).toBeLessThan(900)
  })
})

describe('a new lead in the console', () => {
  const stage = useStage()

  it('has every field of create-lead, and an Idempotency-Key that makes no second lead', async () => {
    const tab = await stage.open('#/leads/new')
    const sent: { key: string | undefined; body: unknown }[] = []
    tab.on('request', (request) => {
      if (!request.url().endsWith('/create-lead')) return
      sent.push({ key: request.headers()['idempotency-key'], body: request.postDataJSON() })
    })
    const fields = {
      first_name: 'Ada',
      last_name: 'Miller',
      email: 'ada.miller@example.com',
      phone: '+1 555-0100',
      partner_lead_id: 'LOAN-1',
      loan_officer_id: 'LO-7',
      fico_range: '580-619',
      notes: 'income too low',
    }
    for (const [name, value] of Object.entries(fields)) await tab.locator(`[name=${name}]`).fill(value)
    await tab.getByLabel('Idempotency-Key').fill('application-1')
    await tab.getByText('As curl').first().click()
    expect(await tab.getByRole('group', { name: 'POST /v1/create-lead' }).textContent()).toContain(
      `-H 'Idempotency-Key: application-1'`,
    )
    await tab.getByRole('button', { name: 'Create lead' }).click()
    await tab.getByRole('heading', { level: 1, name: /^Lead \d+$/ }).waitFor()
    expect(sent).toEqual([{ key: 'application-1', body: fields }])
    // the same key with another borrower
    await tab.goto(`${stage.url}#/leads/new`)
    await tab.getByLabel('Idempotency-Key').fill('application-1')
    await tab.getByRole('button', { name: 'Create lead' }).click()
    await tab.getByRole('alert').getByText('already used with a different').waitFor()
  })

  it('says what is wrong at the fields that are, and goes to the first', async () => {
    const tab = await stage.open('#/leads/new')
    await tab.getByLabel('Email').fill('ada')
    await tab.getByLabel('Phone').fill('none')
    await tab.getByLabel('FICO range').fill('9')
    await tab.getByRole('button', { name: 'Create lead' }).click()
    await tab.locator('[name=email]:focus').waitFor()
    await tab
      .getByRole('alert')
      .filter({ hasText: 'Not sent. Change “Email”, “Phone”, “FICO range”.' })
      .waitFor()
    const problem = tab.locator('#email-problem')
    expect(await problem.textContent()).toMatch(/must be/)
    expect(await tab.getByLabel('Email').getAttribute('aria-describedby')).toBe('email-problem')
    expect(await tab.getByLabel('Email').getAttribute('aria-invalid')).toBe('true')
    expect(await tab.locator('#phone-problem').textContent()).toMatch(/^may contain only /)
    expect(await tab.getByLabel('First name').getAttribute('aria-invalid')).toBe('false')
    expect(await tab.locator('#fico_range-problem').count()).toBe(1)
    await tab.getByRole('button', { name: 'Another borrower' }).click()
    await problem.waitFor({ state: 'detached' })
  })
})
