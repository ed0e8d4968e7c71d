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
    await heading.waitFor({ timeout: 1000 })
    expect((await heading.boundingBox())?.y).toBeLessThan(
      (await tab.getByRole('region', { name: 'Journey' }).boundingBox())?.y ?? 0,
    )
    await tab.locator('.livemark.live').waitFor({ timeout: 5000 })
  })

  it('loads a view that was never opened before once the service is back', async () => {
    const tab = await stage.open('#/leads')
    await tab.context().setOffline(true)
    await tab.goto(`${stage.url}#/endpoint`)
    await tab.getByText('This view could not be loaded').waitFor()
    await tab.getByText('Reconnecting').waitFor()
    await tab.context().setOffline(false)
    await tab.getByRole('heading', { level: 1, name: 'Endpoint' }).waitFor()
    expect(await tab.getByText('This view could not be loaded').count()).toBe(0)
  })
})
