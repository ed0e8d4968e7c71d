import { describe, expect, it } from '@jest/globals'
import { useStage } from './console.ts'

describe('the sandbox in the console', () => {
  const stage = useStage()

  it('is reset once its word is typed, and says when that is done', async () => {
    await stage.calls.createLead()
    await stage.partner.endpoint.until(({ length }) => length === 1)
    const tab = await stage.open('#/leads')
    await tab.getByRole('link', { name: 'Sandbox' }).click()
    const button = tab.getByRole('button', { name: 'Reset the sandbox' })
    expect(await button.isDisabled()).toBe(true)
    await tab.getByLabel('Type “reset” to confirm').fill('rest')
    expect(await button.isDisabled()).toBe(true)
    await tab.getByLabel('Type “reset” to confirm').fill(' Reset ')
    await button.click()
    await tab.getByText('1 lead erased').waitFor()
    expect(await button.isDisabled()).toBe(true)
    await tab.getByRole('link', { name: 'Endpoint' }).click()
    await tab.getByRole('heading', { name: 'No endpoint yet' }).waitFor()
    await tab.getByRole('link', { name: 'Leads' }).first().click()
    await tab.getByRole('heading', { name: 'No leads yet' }).waitFor()
    await tab.getByRole('link', { name: 'Live' }).click()
    const row = tab.getByRole('row', { name: /Lead received/ })
    await row.getByText('Lead erased').last().waitFor()
    expect(await row.locator('a, button').count()).toBe(0)
    expect(tab.complaints).toEqual([])
  })
})
