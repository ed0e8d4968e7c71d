import { expect, test } from '@jest/globals'
import { generateSecret } from '../../src/webhooks/signature.ts'

test('a new secret is whsec_ and 32 random bytes in base64', () => {
  const secrets = Array.from({ length: 100 }, generateSecret)
  expect(new Set(secrets).size).toBe(100)
  for (const secret of secrets) {
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/)
    expect(Buffer.from(secret.slice(6), 'base64')).toHaveLength(32)
  }
})
