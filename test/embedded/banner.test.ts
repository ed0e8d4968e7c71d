import { expect, it } from '@jest/globals'
import { banner } from '../../src/embedded/banner.ts'

const demo = {
  partnerId: 1,
  key: 'prs_test_1',
  endpointUrl: 'http://127.0.0.1:3100/webhooks',
}
const variables = { API_URL: 'http://127.0.0.1:3000/v1', TEMPORAL_NAMESPACE: 'default' }
const text = banner({ demo, dataDirectory: '.data', variables })

it('has the address and the key as lines for a shell, and calls that use them', () => {
  expect(text).toMatch(/^ {2}export API=http:\/\/127\.0\.0\.1:3000\/v1 KEY=prs_test_1$/m)
  expect(text).toContain('post create-lead')
  expect(text).toContain('-H "Authorization: Service-Key $KEY"')
})

it('goes on with a call of the API, not with a command of the staff', () => {
  expect(text).toContain('post sandbox/simulate-event')
  expect(text).not.toContain('npm run staff')
})
