import { describe, expect, it } from '@jest/globals'
import { searchHint } from '../../src/leads/staff-find.ts'

describe('a text by which no lead was found', () => {
  it.each(['evt_0195550a-6b8a', 'att_', 'EVT_0195550a-6b8a-7c31-9d2e'])(
    '%s looks like part of an id',
    (text) => expect(searchHint(text)).toMatch(/^This looks like part of an id/),
  )
  it.each(['Ada Miller', 'Miller', 'Zoë O’Neil-Łukasz', '+1 555-0100', '(555) 010-0100', '15550100123'])(
    '%s looks like a name or a phone number',
    (text) => expect(searchHint(text)).toMatch(/^Names and phone numbers cannot be searched/),
  )
  it.each([
    'evt_0195550a-6b8a-7c31-9d2e-3f4a5b6c7d8e',
    '1042',
    'lead-12',
    'LOAN-2026-131',
    'ada@example.com',
    '%',
  ])('%s looks like what can be found', (text) => expect(searchHint(text)).toBeUndefined())
})
