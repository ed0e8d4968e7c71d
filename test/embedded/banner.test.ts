import { expect, it } from '@jest/globals'
import { banner } from '../../src/embedded/banner.ts'

const demo = {
  partnerId: 1,
  key: 'prs_test_1',
  endpointUrl: 'http://127.0.0.1:3100/webhooks',
  endpointSecret: 'whsec_',
}
const variables = { API_URL: 'http://127.0.0.1:3000/v1', TEMPORAL_NAMESPACE: 'default', SMTP_CATCHER: 'true' }
const textFor = (webhooksTo: string, postgresData?: string) =>
  banner({ demo, webhooksTo, dataDirectory: '.data', postgresData, variables })

it('has the address and the key as lines for a shell, and calls that use them', () => {
  const text = textFor(demo.endpointUrl)
  expect(text).toMatch(/^ {2}export API=http:\/\/127\.0\.0\.1:3000\/v1\n {2}export KEY=prs_test_1$/m)
  expect(text).toContain('curl $API/create-lead')
  expect(text).toContain('-H "Authorization: Service-Key $KEY"')
})

it('goes on with a call of the API, not with a command of the staff', () => {
  const text = textFor(demo.endpointUrl)
  expect(text).toContain('curl $API/sandbox/simulate-event')
  expect(text).not.toContain('npm run staff')
})

it('says where PostgreSQL’s data is, if it is not with the other data', () => {
  expect(textFor(demo.endpointUrl)).not.toContain('Its data')
  const folder = '/var/lib/partner-referral-service-0123456789ab'
  expect(textFor(demo.endpointUrl, folder)).toMatch(new RegExp(`^ {2}Its data +${folder}$`, 'm'))
})

it('says that webhooks are listed below only if they come here', () => {
  expect(textFor(demo.endpointUrl)).toContain(`${demo.endpointUrl}: verifies webhooks and lists them below`)
  const moved = textFor('http://127.0.0.1:4000/webhooks')
  expect(moved).toContain('http://127.0.0.1:4000/webhooks, which you set: webhooks are not listed below')
  expect(moved).not.toContain('verifies')
})
