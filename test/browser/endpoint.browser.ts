import { describe, expect, it } from '@jest/globals'
import { issueKey } from '../../src/partners/keys.ts'
import { addPartner } from '../../src/partners/partner.ts'
import { startPartnerEndpoint } from '../support/partner-endpoint.ts'
import { openTab } from './browser.ts'
import { useStage } from './console.ts'

describe('the endpoint in the console', () => {
  const stage = useStage()

  it('begins without one, with a button for each way that the words name', async () => {
    const { sql } = stage.service
    const { id } = await addPartner(sql, { name: 'New Lender' })
    const { key } = await issueKey(sql, id, 'sandbox')
    const tab = await openTab(stage.browser)
    await tab.goto(`${stage.url}#key=${key}`)
    await tab.getByRole('heading', { name: 'No leads yet' }).waitFor()
    await tab.goto(`${stage.url}#/endpoint`)
    await tab.getByRole('heading', { name: 'No endpoint yet' }).waitFor()
    expect(await tab.getByText('Paused').count()).toBe(0)
    await tab.getByRole('button', { name: 'Set your URL' }).click()
    await tab.locator(':focus').and(tab.getByLabel('URL of your receiver')).waitFor()
    await tab.getByRole('button', { name: 'Use our sink' }).press('Enter')
    await tab.getByRole('heading', { name: 'Nothing was sent yet' }).waitFor()
    await tab.getByRole('heading', { name: 'Sink' }).waitFor()
    // the button is gone with its section
    await tab.locator('h1:focus').waitFor()
    expect(await tab.getByRole('button', { name: 'Use our sink' }).count()).toBe(0)
  })

  it('has what to do first, then actions, then reports, each group with one menu of calls', async () => {
    const tab = await stage.open('#/endpoint', { viewport: { width: 400, height: 800 } })
    await tab.getByRole('heading', { name: 'Nothing was sent yet' }).waitFor()
    await tab.getByText('it is the demo endpoint that came with the sandbox').waitFor()
    const top = async (name: string) => (await tab.getByRole('heading', { name }).boundingBox())?.y ?? 0
    const tops = [await top('Nothing was sent yet'), await top('Change the URL')]
    expect(tops).toEqual(tops.toSorted((one, other) => one - other))
    const health = tab.getByRole('region', { name: 'Nothing was sent yet' })
    expect(await health.getByRole('button').allTextContents()).toEqual(['Pause', 'Send a test'])
    await health.getByText('As curl').click()
    await health.locator('.code-head').first().waitFor()
    expect(await health.locator('.code-head span').allTextContents()).toEqual([
      'Pause · POST /v1/pause-endpoint',
      'Send a test · POST /v1/test-endpoint',
    ])
  })

  it('is paused, holds webhooks, and sends them when it is resumed', async () => {
    const tab = await stage.open('#/endpoint')
    await tab.getByRole('heading', { name: 'Nothing was sent yet' }).waitFor()
    await tab.getByRole('button', { name: 'Pause' }).click()
    await tab.getByText('None is lost').waitFor()
    const id = await stage.calls.createLead({ partner_lead_id: 'LOAN-3' })
    const waiting = tab.getByRole('link', { name: '1 webhook' })
    expect(await waiting.getAttribute('href')).toBe('#/live?states=held')
    await tab.goto(`${stage.url}#/leads/${id}`)
    await tab.getByText('Webhooks are held: your endpoint is paused').waitFor()
    await tab.getByRole('link', { name: 'See your endpoint' }).click()
    await tab.getByRole('heading', { level: 1, name: 'Endpoint' }).waitFor()
    await tab.goto(`${stage.url}#/leads?delivery=held`)
    await tab.getByRole('row', { name: /LOAN-3 Lead received Held 1 webhook/ }).waitFor()
    await tab.goto(`${stage.url}#/endpoint`)
    await tab.getByRole('button', { name: 'Resume' }).click()
    await tab.getByText('None', { exact: true }).waitFor()
    await tab.locator('.head').getByText('Active').waitFor()
    expect(tab.complaints).toEqual([])
  })

  it('gets a test, whose answer is shown', async () => {
    const tab = await stage.open('#/endpoint')
    await tab.getByRole('button', { name: 'Send a test' }).click()
    await tab.getByText('Accepted', { exact: true }).waitFor()
    expect(stage.partner.endpoint.arrivals.at(-1)?.event.type).toBe('endpoint.ping')
  })

  it('is replaced by a new URL once that passes the certification, with the report', async () => {
    const next = await startPartnerEndpoint()
    next.answer = ({ verified, timestamp }, response) => {
      const isFresh = Math.abs(Date.now() / 1000 - timestamp) < 300
      response.writeHead(verified && isFresh ? 200 : 400).end()
    }
    const tab = await stage.open('#/endpoint')
    await tab.getByLabel('URL of your receiver').fill('nonsense')
    await tab.getByRole('button', { name: 'Set URL' }).click()
    await tab.locator('[name=url][aria-invalid=true]:focus').waitFor()
    await tab.locator('#url-problem[role=alert]', { hasText: 'it is not an absolute URL' }).waitFor()
    expect(await tab.getByRole('alert').count()).toBe(1)
    await tab.getByLabel('URL of your receiver').fill(next.url)
    await tab.getByRole('button', { name: 'Set URL' }).click()
    await tab.getByText('Store this secret now.').waitFor()
    const shown = tab.getByRole('group', { name: 'Signing secret' })
    const secret = (await shown.textContent()) ?? ''

    await tab.getByRole('button', { name: 'Certify' }).click()
    const report = tab.getByRole('region', { name: 'Certification' })
    await report.locator('p[role=status]').getByText('Failed').waitFor()
    await tab.getByText('The secret of this URL is the one that set-endpoint returned last.').waitFor()

    next.secret = secret
    await tab.getByRole('button', { name: 'Certify' }).click()
    await report.locator('p[role=status]').getByText('Passed').waitFor()
    expect(await report.locator('.list').getByText('Passed').count()).toBe(6)
    await tab.getByRole('region', { name: 'It works' }).getByText(next.url).waitFor()
  })

  it('gets a new secret', async () => {
    const tab = await stage.open('#/endpoint')
    await tab.getByLabel('Hours until').fill('169')
    await tab.getByRole('button', { name: 'Rotate' }).click()
    await tab.locator('[name=overlap_hours][aria-invalid=true]:focus').waitFor()
    await tab.locator('#overlap_hours-problem[role=alert]', { hasText: 'must be at most 168' }).waitFor()
    await tab.getByLabel('Hours until').fill('1')
    await tab.getByRole('button', { name: 'Rotate' }).click()
    await tab.getByText('signed with the new secret').waitFor()
    const secret = tab.getByRole('group', { name: 'Signing secret' })
    expect(await secret.textContent()).toMatch(/^whsec_/)
    // to its end
    const hidden = await secret.evaluate(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)
    expect(hidden).toBe(0)
    await tab.getByRole('button', { name: 'Copy' }).click()
    expect(await tab.evaluate('navigator.clipboard.readText()')).toBe(await secret.textContent())
  })

  it('is our sink, whose answers are shown', async () => {
    const tab = await stage.open('#/endpoint')
    await tab.getByText('A sink is a test endpoint that we host').waitFor()
    await tab.getByRole('button', { name: 'Use our sink' }).click()
    await tab.getByRole('heading', { name: 'Sink' }).waitFor()
    const { url } = (await stage.calls.post('get-endpoint', {})).body.data as object as { url: string }
    await stage.calls.post('set-endpoint', { url })
    await stage.calls.post('certify-endpoint', {})
    await tab.getByRole('region', { name: 'Certification' }).getByText('Passed').first().waitFor()
    await tab.getByLabel('How it should answer').selectOption('Fail twice, then succeed')
    await tab.getByRole('button', { name: 'Set answer' }).click()
    await tab.getByText('It answers 503 to the next 2 webhooks, then 200.').waitFor()
    const id = await stage.calls.createLead()
    await tab.getByText('answered 503').first().waitFor()
    await tab.getByText('It answers 200.').waitFor()
    await tab.getByLabel('How it should answer').selectOption('Always fail')
    await tab.getByRole('button', { name: 'Set answer' }).click()
    await tab.getByText('It answers 503.').waitFor()
    const forged = tab.locator('.list li', { hasText: 'Certification: forged signature' })
    await forged.first().waitFor()
    expect(await forged.first().textContent()).toMatch(/Refused.*as it should be.*answered\s400/s)
    expect(await tab.getByText('Not verified').count()).toBe(0)
    await tab.goto(`${stage.url}#/leads/${id}`)
    await tab.getByText('Our sink answered 503, as it was told.').waitFor()
    expect(await tab.getByText('in its log').count()).toBe(0)
    const event = tab.locator('.event', { hasText: 'Lead received' })
    await event.getByText('Retrying').waitFor()
    await event.getByRole('button', { name: 'Lead received' }).click()
    await event.getByText('Headers that we sent').waitFor()
    expect(await event.getByRole('group', { name: 'Headers that we sent' }).textContent()).toMatch(
      /webhook-signature: v1,/,
    )
  })

  it('shows all that its sink received, and leads to the leads', async () => {
    await stage.calls.post('sandbox/set-sink', {})
    await stage.calls.post('sandbox/run-scenario', { scenario: 'ready_after_two_updates' })
    const id = await stage.calls.createLead({ partner_lead_id: 'LOAN-12' })
    const tab = await stage.open('#/endpoint')
    const rows = tab.getByRole('region', { name: 'Sink' }).locator('.list li')
    const row = rows.filter({ hasText: 'LOAN-12' })
    await row.waitFor()
    expect(await rows.count()).toBeGreaterThan(10)
    await row.getByRole('link', { name: 'Lead received' }).click()
    await tab.getByRole('heading', { level: 1, name: `Lead ${id}` }).waitFor()
    expect(tab.complaints).toEqual([])
  })

  it('makes no claim about its sink that it cannot know', async () => {
    const tab = await openTab(stage.browser)
    let answer = () => {}
    const asked = new Promise<void>((resolve) => (answer = resolve))
    const error = { code: 'INTERNAL_ERROR', message: 'Something went wrong.' }
    await tab.route('**/v1/sandbox/get-sink', async (route) => {
      await asked
      await route.fulfill({ status: 400, json: { success: false, error } })
    })
    await tab.goto(`${stage.url}#key=${stage.partner.key}`)
    await tab.getByRole('link', { name: 'Endpoint' }).click()
    const sink = tab.getByRole('region', { name: 'Sink' })
    await sink.getByText('Loading').waitFor()
    expect(await sink.getByLabel('How it should answer').count()).toBe(0)
    answer()
    await sink.getByRole('alert').getByText('Something went wrong.').waitFor()
    expect(await sink.getByLabel('How it should answer').or(sink.getByText('Loading')).count()).toBe(0)
    await tab.unroute('**/v1/sandbox/get-sink')
    await sink.getByRole('button', { name: 'Try again' }).click()
    await sink.getByLabel('How it should answer').waitFor()
    expect(await sink.getByRole('alert').count()).toBe(0)
  })
})
