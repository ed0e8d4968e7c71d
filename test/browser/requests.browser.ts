import { describe, expect, it } from '@jest/globals'
import { until } from '../support/until.ts'
import { useStage } from './console.ts'

describe('requests in the console', () => {
  const stage = useStage()

  it('appear as a system makes them, say what was wrong, and lead to their leads', async () => {
    const tab = await stage.open('#/requests')
    await tab.getByText('No requests yet').waitFor()
    await tab.getByText('without request bodies').waitFor()
    const lead = await stage.calls.createLead()
    await stage.calls.post('create-lead', { first_name: 'Ada', last_name: 'Miller', email: 'ada', phone: 1 })
    const refused = tab.getByRole('row', { name: /create-lead .*400 INVALID_PAYLOAD: email, phone/ })
    await refused.waitFor()
    const created = tab.getByRole('row', { name: new RegExp(`create-lead [0-9a-f-]+ ${lead} 200`) })
    await created.waitFor()
    const id = String(await created.locator('.id').textContent())
    await tab.getByLabel('Status').selectOption('4xx')
    await created.waitFor({ state: 'detached' })
    await refused.waitFor()
    expect(await tab.getByRole('row').count()).toBe(2)
    await tab.getByLabel('Status').selectOption('')
    await tab.getByLabel('Lead', { exact: true }).fill(String(lead + 1000))
    await tab.getByLabel('Lead', { exact: true }).press('Enter')
    await tab.getByText('No request matches').waitFor()
    await tab.getByRole('link', { name: 'Show all requests' }).click()
    await tab.getByLabel('Request id').fill(id)
    await tab.getByLabel('Request id').press('Enter')
    await until(async () => (await tab.getByRole('row').count()) === 2)
    await created.getByRole('link').click()
    await tab.getByRole('heading', { level: 1, name: `Lead ${lead}` }).waitFor()
    expect(tab.complaints).toEqual([])
  })

  it('say why a filter cannot be', async () => {
    const tab = await stage.open('#/requests?lead_id=LOAN-1')
    const alert = tab.getByRole('alert')
    await alert.waitFor()
    expect(await alert.textContent()).toContain('lead_id must be an integer')
  })
})
