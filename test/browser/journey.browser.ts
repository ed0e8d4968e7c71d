import { describe, expect, it } from '@jest/globals'
import type { SignalledMilestone } from '../../src/core/leads/decisions/milestones.ts'
import { useStage } from './console.ts'

const journey: [SignalledMilestone, string][] = [
  ['client_account_created', 'Client account created'],
  ['credit_scan_completed', 'Credit scan completed'],
  ['contract_signed', 'Contract signed'],
  ['escrow_funded', 'Escrow funded'],
  ['score_update', 'Score update'],
  ['mortgage_ready', 'Mortgage ready'],
]
const gains = {
  experian_gain: 12,
  equifax_gain: 8,
  transunion_gain: -3,
  estimated_time_remaining: '30-60 days',
}

describe('a lead in the console', () => {
  const stage = useStage()

  it('goes from a filled form to mortgage ready, each milestone and its webhook shown as it happens', async () => {
    const tab = await stage.open()
    await tab.getByRole('link', { name: 'Create your first lead' }).click()
    await tab.getByLabel('Your lead id').fill('LOAN-7')
    await tab.locator('form').getByText('As curl').click()
    expect(await tab.getByRole('group', { name: 'POST /v1/create-lead' }).textContent()).toContain('LOAN-7')
    await tab.getByRole('button', { name: 'Create lead' }).click()
    await tab.getByRole('heading', { level: 1, name: /^Lead \d+$/ }).waitFor()
    const id = Number(/leads\/(\d+)/.exec(tab.url())?.[1])
    for (const [name, shown] of journey) {
      await stage.service.referrals.signal(
        id,
        name,
        name === 'score_update' ? { event_payload: gains } : undefined,
      )
      const event = tab.locator('.event', { hasText: shown })
      await event.getByText('Delivered').waitFor()
    }
    await tab.locator('.head').getByText('Mortgage ready').waitFor()
    expect(await tab.locator('.journey li.done').count()).toBe(7)
    expect(await tab.locator('.event', { hasText: 'Score update' }).textContent()).toContain(
      'Experian gain +12',
    )
    expect(await tab.locator('.payload').getByText('Your lead id').count()).toBe(1)
    expect(await tab.locator('.facts').getByText('Your lead id').count()).toBe(1)
    await tab.getByRole('link', { name: 'Leads' }).first().click()
    await tab.getByRole('columnheader', { name: 'Your lead id' }).waitFor()
    await tab.getByRole('row', { name: /LOAN-7 Mortgage ready All delivered/ }).waitFor()
    expect(tab.complaints).toEqual([])
  })

  it('shows the request that the endpoint got, verifies its signature here, and resends it', async () => {
    const id = await stage.calls.createLead()
    const arrived = () => stage.partner.endpoint.arrivals.filter(({ event }) => event.data.lead_id === id)
    const tab = await stage.open(`#/leads/${id}`)
    await tab.locator('.event', { hasText: 'Delivered' }).locator('summary').click()
    const [arrival] = arrived()
    await tab.getByText('Verify this signature').click()
    // as they were sent
    await tab.getByText('These are of the latest attempt').waitFor()
    expect(await tab.getByLabel('webhook-timestamp').inputValue()).toBe(String(arrival?.timestamp))
    expect(await tab.getByLabel('webhook-signature').inputValue()).toBe(arrival?.signature)
    await tab.getByLabel('webhook-timestamp').clear()
    await tab.getByLabel('webhook-signature').clear()
    await tab.getByLabel('webhook-timestamp').fill(String(arrival?.timestamp))
    await tab.getByLabel('webhook-signature').fill(String(arrival?.signature))
    await tab.getByLabel('Your signing secret').fill(stage.partner.endpoint.secret)
    await tab.getByRole('button', { name: 'Verify' }).click()
    await tab.getByText('the signature is valid').waitFor()
    await tab.getByLabel('webhook-timestamp').fill('1')
    await tab.getByRole('button', { name: 'Verify' }).click()
    await tab.getByText('It does not match').waitFor()
    await tab.getByLabel('Your signing secret').fill(stage.partner.endpoint.secret.slice(0, -4))
    await tab.getByRole('button', { name: 'Verify' }).click()
    await tab.getByText('not a whole signing secret').waitFor()
    expect(await tab.getByText('Reload the page').count()).toBe(0)
    await tab.getByRole('button', { name: 'Copy' }).nth(1).click()
    expect(await tab.evaluate('navigator.clipboard.readText()')).toBe(arrival?.body)

    await tab.getByRole('button', { name: 'Resend' }).press('Enter')
    await tab.getByText('The webhook will be sent again.').waitFor()
    await tab.locator('button:focus', { hasText: 'Resend' }).waitFor()
    await tab.getByText('· replay').or(tab.getByText('· resend')).waitFor()
    expect(arrived().map(({ replay }) => replay)).toEqual([undefined, 'true'])
  })

  it('says why a webhook fails before it is opened, and then what the endpoint answered', async () => {
    stage.partner.endpoint.answer = (_, response) =>
      void response
        .writeHead(503, { 'x-reason': 'ledger is read-only' })
        .end('<b>down</b> for maintenance <script>alert(1)</script>')
    const id = await stage.calls.createLead()
    const tab = await stage.open(`#/leads/${id}`)
    const event = tab.locator('.event', { hasText: 'Lead received' })
    await event.locator('summary').getByText('your endpoint answered 503').waitFor()
    await event.locator('summary').first().click()
    const shown = async (name: string) => event.getByRole('group', { name }).first().textContent()
    await event.getByText('Its body, up to 4 KB').first().waitFor()
    expect(await shown('Its body')).toBe('<b>down</b> for maintenance <script>alert(1)</script>')
    expect(await shown('Your response')).toMatch(/^HTTP 503\n(.*\n)*x-reason: ledger is read-only/)
    const arrival = stage.partner.endpoint.arrivals.find(({ event: { data } }) => data.lead_id === id)
    expect(await shown('What we sent')).toBe(
      `webhook-id: ${arrival?.id}\nwebhook-timestamp: ${arrival?.timestamp}\nwebhook-signature: ${arrival?.signature}`,
    )
    stage.partner.endpoint.answer = (_, response) => void response.writeHead(200).end()
    await event.getByRole('button', { name: 'Try now' }).click()
    await event.locator('summary').getByText('Delivered').waitFor()
    expect(await event.locator('summary').getByText('your endpoint answered 503').count()).toBe(0)
    await event.getByText('Request and answer').last().click()
    await event.getByText('Its body was empty.').waitFor()
    expect(tab.complaints).toEqual([])
  })

  it('shows a failing webhook with its next attempt, and tries it at once when the endpoint is mended', async () => {
    stage.partner.endpoint.answer = (_, response) => void response.writeHead(503).end()
    const id = await stage.calls.createLead({ partner_lead_id: 'LOAN-8' })
    const tab = await stage.open(`#/leads/${id}`)
    const event = tab.locator('.event', { hasText: 'Lead received' })
    await event.getByText('Retrying').waitFor()
    await event.locator('summary').click()
    await event.locator('.event-body').getByText('Next attempt').waitFor()
    await event.locator('.attempts').getByText('503').first().waitFor()

    await tab.goto(`${stage.url}#/leads?delivery=failing`)
    await tab.getByRole('row', { name: /LOAN-8 Lead received Failing 1 webhook/ }).waitFor()
    stage.partner.endpoint.answer = (_, response) => void response.writeHead(200).end()
    await tab.goBack()
    await event.locator('summary').click()
    await event.getByRole('button', { name: 'Try now' }).click()
    await event.getByText('Delivered').waitFor()
    expect(await event.locator('.attempts li').count()).toBeGreaterThan(1)
  })

  it('says why the endpoint fails, and tries all that wait when it is mended', async () => {
    stage.partner.endpoint.answer = (_, response) => void response.writeHead(503).end()
    const failed = await stage.calls.createLead()
    const tab = await stage.open('#/endpoint')
    await tab.getByText('Last error').waitFor()
    await tab.getByText('Next attempt').waitFor()
    // it accepts another one, and the first still waits
    stage.partner.endpoint.answer = ({ event }, response) =>
      void response.writeHead(event.data.lead_id === failed ? 503 : 200).end()
    await stage.calls.createLead()
    await tab.getByRole('heading', { name: 'It works' }).waitFor()
    await tab.getByText('Those that failed before wait').waitFor()
    stage.partner.endpoint.answer = (_, response) => void response.writeHead(200).end()
    await tab.getByRole('button', { name: 'Retry now' }).click()
    await tab.getByText('Those that failed before wait').waitFor({ state: 'hidden' })
    await tab.locator('.facts').getByText('None').waitFor()
    await tab.getByText('Last error').waitFor({ state: 'hidden' })
    expect(tab.complaints).toEqual([])
  })

  it('shows a name with markup in it as text', async () => {
    const name = '<img src=x onerror=alert(1)><b>Ada</b>'
    const id = await stage.calls.createLead({
      first_name: name,
      partner_lead_id: '<script>alert(2)</script>',
    })
    const tab = await stage.open(`#/leads/${id}`)
    await tab.getByText(`${name} Miller`).waitFor()
    await tab.locator('.event').getByText('<script>alert(2)</script>').first().waitFor()
    expect(tab.complaints).toEqual([])
  })

  it('filters leads, and goes back with the back button', async () => {
    const tab = await stage.open()
    await tab.getByLabel('Your lead id').fill('LOAN-7')
    await tab.keyboard.press('Enter')
    await tab.getByLabel('Your lead id').blur()
    await tab.getByRole('row').nth(1).getByText('LOAN-7').waitFor()
    expect(await tab.locator('tbody tr').count()).toBe(1)
    await tab.getByRole('row').nth(1).getByRole('link').click()
    await tab.locator('h1:focus', { hasText: /^Lead \d+/ }).waitFor()
    await tab.goBack()
    await tab.getByRole('heading', { level: 1, name: 'Leads' }).waitFor()
    expect(await tab.getByLabel('Your lead id').inputValue()).toBe('LOAN-7')
    await tab.getByRole('row').nth(1).waitFor()
    expect(await tab.locator('tbody tr').count()).toBe(1)
    await tab.goto(`${stage.url}#/leads/987654321`)
    await tab.getByText('There is no lead with this id').waitFor()
  })

  it('shows what happens within a second, without a reload', async () => {
    const tab = await stage.open('#/live')
    await tab.getByText('Live', { exact: true }).nth(1).waitFor()
    const id = await stage.calls.createLead({ partner_lead_id: 'LOAN-9' })
    const created = Date.now()
    await tab.getByRole('row', { name: new RegExp(`Lead received ${id} `) }).waitFor()
    // the feed is read every half second; this machine may be busy
    expect(Date.now() - created).toBeLessThan(3000)
    await tab.getByText('1 event since you opened the console.').waitFor()
  })
})
