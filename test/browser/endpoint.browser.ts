import { describe, expect, it } from '@jest/globals'
import { startPartnerEndpoint } from '../support/partner-endpoint.ts'
import { useStage } from './console.ts'

describe('the endpoint in the console', () => {
  const stage = useStage()

  it('is paused, holds webhooks, and sends them when it is resumed', async () => {
    const tab = await stage.open('#/endpoint')
    await tab.getByRole('heading', { name: 'It works' }).waitFor()
    await tab.getByRole('button', { name: 'Pause' }).click()
    await tab.getByText('None is lost').waitFor()
    const id = await stage.calls.createLead({ partner_lead_id: 'LOAN-3' })
    const waiting = tab.getByRole('link', { name: '1 webhook' })
    expect(await waiting.getAttribute('href')).toBe('#/live?states=held')
    await tab.getByRole('link', { name: `Lead received, lead ${id}` }).click()
    await tab.getByText('Held: your endpoint is paused, because it was paused with pause-endpoint.').waitFor()
    await tab.getByRole('link', { name: 'See your endpoint' }).click()
    await tab.getByRole('heading', { level: 1, name: 'Endpoint' }).waitFor()
    await tab.goto(`${stage.url}#/leads?delivery=held`)
    await tab.getByRole('row', { name: /LOAN-3 Lead received Held 1 webhook/ }).waitFor()
    await tab.goto(`${stage.url}#/endpoint`)
    await tab.getByRole('button', { name: 'Resume' }).click()
    await tab.getByText('None', { exact: true }).waitFor()
    await tab.locator('.head').getByText('Active').waitFor()
    await tab.getByText('100%').waitFor()
    expect(tab.complaints).toEqual([])
  })

  it('says where webhooks come from, if the deployment promises it', async () => {
    const tab = await stage.open('#/endpoint')
    await tab.getByRole('heading', { name: 'It works' }).waitFor()
    expect(await tab.getByText('Where webhooks come from').count()).toBe(0)
    const { port } = await stage.service.startApi({ EGRESS_ADDRESSES: '203.0.113.16/28,2001:db8::/32' })
    await tab.goto(`http://127.0.0.1:${port}/console#key=${stage.partner.key}`)
    await tab.getByRole('heading', { level: 1, name: 'Leads' }).waitFor()
    await tab.getByRole('link', { name: 'Endpoint' }).click()
    await tab.getByText('Where webhooks come from').waitFor()
    expect(await tab.getByRole('group', { name: 'Addresses' }).textContent()).toBe(
      '203.0.113.16/28\n2001:db8::/32',
    )
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
    await tab.getByRole('alert').filter({ hasText: 'Invalid request: url' }).waitFor()
    await tab.getByLabel('URL of your receiver').fill(next.url)
    await tab.getByRole('button', { name: 'Set URL' }).click()
    await tab.getByText('Store this secret now.').waitFor()
    const shown = tab.getByRole('group', { name: 'Signing secret' })
    const secret = (await shown.textContent()) ?? ''

    await tab.getByRole('button', { name: 'Certify' }).click()
    const report = tab.getByRole('region', { name: 'Certification' })
    await report.locator('p[role=status]').getByText('Failed').waitFor()
    await tab.getByText('Verify the signature with the secret').waitFor()

    next.secret = secret
    await tab.getByRole('button', { name: 'Certify' }).click()
    await report.locator('p[role=status]').getByText('Passed').waitFor()
    expect(await report.locator('.checks').getByText('Passed').count()).toBe(6)
    await tab.getByRole('region', { name: 'It works' }).getByText(next.url).waitFor()
  })

  it('gets a new secret', async () => {
    const tab = await stage.open('#/endpoint')
    await tab.getByLabel('Hours until').fill('1')
    await tab.getByRole('button', { name: 'Rotate' }).click()
    await tab.getByText('signed with the new secret').waitFor()
    expect(await tab.getByRole('group', { name: 'Signing secret' }).textContent()).toMatch(/^whsec_/)
  })

  it('is our sink, which shows what it received', async () => {
    const tab = await stage.open('#/endpoint')
    await tab.getByText('A sink is a test endpoint that we host').waitFor()
    await tab.getByRole('button', { name: 'Use our sink' }).click()
    await tab.getByRole('heading', { name: 'Sink' }).waitFor()
    await tab.getByLabel('How it answers').selectOption('Fail twice, then succeed')
    await tab.getByRole('button', { name: 'Set answer' }).click()
    await tab.getByText('The sink answers 503 to the next 2 webhooks, then 200.').waitFor()
    const id = await stage.calls.createLead()
    await tab.getByText('answered 503 · attempt 1').waitFor()
    // what it answers now, not what was chosen before
    const answer = tab.getByLabel('How it answers')
    await answer
      .locator('option:checked', { hasText: /^Answer 503 to the next webhook$/ })
      .waitFor({ state: 'attached' })
    await answer.selectOption('Always fail')
    await tab.getByRole('button', { name: 'Set answer' }).click()
    await tab.getByText('The sink answers 503').waitFor()
    await tab.reload()
    await answer.locator('option:checked', { hasText: /^Always fail$/ }).waitFor({ state: 'attached' })
    await tab.goto(`${stage.url}#/leads/${id}`)
    const event = tab.locator('.event', { hasText: 'Lead received' })
    await event.getByText('Retrying').waitFor()
    await event.locator('summary').click()
    await event.getByText('Headers, as your sink received them').waitFor()
    expect(await event.getByRole('group', { name: 'Headers' }).textContent()).toMatch(
      /webhook-signature: v1,/,
    )
  })
})
