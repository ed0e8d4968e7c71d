import { describe, expect, it } from '@jest/globals'
import { useStage } from './console.ts'

describe('while the service is away, the console', () => {
  const stage = useStage()

  it('says so, and shows all of the view as soon as it is back, and that it is live', async () => {
    const id = await stage.calls.createLead()
    const tab = await stage.open(`#/leads/${id}`)
    await tab.getByText('Delivered').waitFor()
    await tab.goto(`${stage.url}#/leads`)
    await tab.getByRole('heading', { level: 1, name: 'Leads' }).waitFor()
    await tab.context().setOffline(true)
    await tab.goto(`${stage.url}#/leads/${id}`)
    await tab.getByText('The API did not answer').waitFor()
    await tab.getByText('Reconnecting').waitFor()
    await tab.context().setOffline(false)
    await tab.getByText('Delivered').waitFor()
    const heading = tab.getByRole('heading', { level: 1, name: `Lead ${id}` })
    await heading.waitFor({ timeout: 5000 })
    expect((await heading.boundingBox())?.y).toBeLessThan(
      (await tab.getByRole('region', { name: 'Journey' }).boundingBox())?.y ?? 0,
    )
    await tab.locator('.livemark.live').waitFor()
  })

  it('says one sentence for 503', async () => {
    const tab = await stage.open('#/endpoint')
    await tab.getByRole('heading', { name: 'It works' }).waitFor()
    const message = 'The service is temporarily unavailable. Try again in 5 seconds.'
    const error = { code: 'SERVICE_UNAVAILABLE', message }
    await tab.route('**/v1/get-endpoint', (route) =>
      route.fulfill({ status: 503, json: { success: false, error } }),
    )
    const alert = tab.getByRole('alert')
    await alert.getByText('The service is temporarily unavailable: the console keeps trying.').waitFor()
    expect(await alert.locator('p').textContent()).toMatch(/^[^.]+\.\s*$/)
    await tab.unroute('**/v1/get-endpoint')
    await alert.waitFor({ state: 'detached' })
  })
})
