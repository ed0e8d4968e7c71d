import { describe, expect, it } from '@jest/globals'
import { useStage } from './console.ts'

describe('a rehearsal in the console', () => {
  const stage = useStage()

  it('says what a good receiver does, what came, and what to change', async () => {
    stage.partner.endpoint.answer = ({ replay }, response) =>
      void response.writeHead(replay === undefined ? 200 : 409).end()
    const tab = await stage.open('#/endpoint')
    await tab.getByRole('link', { name: 'Rehearse bad days' }).click()
    await tab.getByRole('heading', { level: 1, name: 'Rehearsal' }).waitFor()
    await tab.getByText('Not rehearsed yet').waitFor()
    await tab.getByRole('button', { name: 'Rehearse' }).click()
    await tab
      .getByRole('heading', { name: '3 of 10 checks did not pass: repeats, late, early.' })
      .waitFor({ timeout: 60_000 })
    const late = tab.locator('.checks > li', { hasText: /Late/ }).first()
    await late.getByText('leaves the lead in its later state').waitFor()
    await late.getByText('status 409 (credit_scan_completed, request 5 of 5)').waitFor()
    await late.getByText('Respond with 200 to a webhook whose sequence is lower').waitFor()
    await late.getByText('5 requests', { exact: true }).click()
    await late.getByText(/^They are about lead 2\d{9}\.$/).waitFor()
    await late.getByRole('row', { name: /^credit_scan_completed with webhook-replay evt_.* 3 409/ }).waitFor()

    stage.partner.endpoint.answer = (_, response) => void response.writeHead(200).end()
    await tab.getByRole('button', { name: 'Only the 3 checks that did not pass' }).click()
    await tab.getByRole('heading', { name: 'Your endpoint passed 3 checks.' }).waitFor()
    expect(await tab.locator('.checks').getByText('Passed').count()).toBe(3)
    await late.getByText('5 requests, and what to look for').click()
    await late.getByText(/of lead 2\d{9}: five events, and the lead at escrow_funded\./).waitFor()
    expect(tab.complaints).toEqual([])
  }, 90_000)
})
