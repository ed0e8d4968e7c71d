import { expect, it } from '@jest/globals'
import { readFileSync } from 'node:fs'
import type { Document } from '../../src/clients/document.ts'
import { emitCalls, emitTypes } from '../../src/clients/python/emit.ts'

it('the Python client has the types of the API’s document: else run npm run clients', () => {
  const document = JSON.parse(readFileSync('docs/openapi.json', 'utf8')) as Document
  const written = (file: string) => readFileSync(`src/clients/python/partner_referrals/${file}`, 'utf8')
  expect(written('types.py')).toBe(emitTypes(document))
  expect(written('_calls.py')).toBe(emitCalls(document))
})
