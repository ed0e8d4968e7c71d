import { describe, expect, it } from '@jest/globals'
import { superLinear } from '../.oxlint.patterns.ts'

describe('the lint rule for patterns', () => {
  it.each([
    /(?<![\p{L}\p{M}\p{N}])\p{N}(?:[^\p{L}\p{M}]*\p{N}){4,}(?![\p{L}\p{M}\p{N}])/gu,
    /^(?:a+)+$/,
    /^(?:a{0,60}){0,60}$/,
    /^\d+\w*$/,
    /^(?:a|a)+$/,
    /^(?:a|ab|b)*$/,
    /^(?!(?:a+)+b)/,
    /(?<=(?:a+)+b)x/,
    /\s+$/,
    /a+b/,
  ])('refuses a pattern that some text keeps busy: %s', ({ source, flags }) => {
    expect(superLinear(source, flags)).toEqual(expect.any(String))
  })

  it.each([
    /^\s+|[^\s.]/g,
    /\s+/gu,
    /^[\w.-]{1,64}@(?:[a-z](?:[a-z-]{0,61}[a-z])?\.)+[a-z]{2,63}$/,
    /^(?:GET|POST) [^ ]{1,200}$/,
    /[\p{L}&&[a-z]]+/v,
    /\/{2,}?/,
  ])('takes one that reads each character a fixed number of times: %s', ({ source, flags }) => {
    expect(superLinear(source, flags)).toBeUndefined()
  })
})
