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

  it('loads a view that was never opened before once the service is back', async () => {
    const tab = await stage.open('#/leads')
    await tab.context().setOffline(true)
    await tab.goto(`${stage.url}#/endpoint`)
    const alert = tab.getByRole('alert').getByText('The API did not answer: the console keeps trying.')
    await alert.waitFor()
    await tab.getByText('Reconnecting').waitFor()
    await tab.context().setOffline(false)
    await tab.getByRole('heading', { level: 1, name: 'Endpoint' }).waitFor()
    expect(await alert.count()).toBe(0)
  })

  it('loads a view again that did not come at first, without a reload of the page', async () => {
    const tab = await stage.open('#/leads')
    await tab.route('**/console/views/endpoint.js', (route) => route.abort(), { times: 1 })
    let loads = 0
    tab.on('load', () => (loads += 1))
    await tab.goto(`${stage.url}#/endpoint`)
    await tab.getByRole('heading', { level: 1, name: 'Endpoint' }).waitFor()
    expect(loads).toBe(0)
  })

  it('reloads the page once for a view that does not come, and then leaves it to the user', async () => {
    const tab = await stage.open('#/leads')
    await tab.route('**/console/views/endpoint.js', (route) => route.abort())
    let loads = 0
    tab.on('load', () => (loads += 1))
    await tab.goto(`${stage.url}#/endpoint`)
    const alert = tab.getByRole('alert')
    await alert.getByText('This view could not be loaded. Reload the page.').waitFor()
    expect(loads).toBe(1)
    await tab.unroute('**/console/views/endpoint.js')
    await alert.getByRole('button', { name: 'Try again' }).click()
    await tab.getByRole('heading', { level: 1, name: 'Endpoint' }).waitFor()
    expect(loads).toBe(2)
  })

  it('says one sentence for 503, with which the mark agrees', async () => {
    const tab = await stage.open('#/endpoint')
    await tab.getByRole('heading', { name: 'It works' }).waitFor()
    await tab.locator('.livemark.live').waitFor()
    const message = 'The service is temporarily unavailable. Try again in 5 seconds.'
    const error = { code: 'SERVICE_UNAVAILABLE', message }
    // only one call of several: the feed goes on
    await tab.route('**/v1/get-endpoint', (route) =>
      route.fulfill({ status: 503, json: { success: false, error } }),
    )
    const alert = tab.getByRole('alert')
    await alert.getByText('The service is unavailable for the moment: the console keeps trying.').waitFor()
    expect(await alert.locator('p').textContent()).toMatch(/^[^.]+\.\s*$/)
    await tab.getByText('Reconnecting').waitFor()
    await tab.unroute('**/v1/get-endpoint')
    await alert.waitFor({ state: 'detached' })
    await tab.locator('.livemark.live').waitFor()
  })
})
