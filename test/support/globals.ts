import type * as Globals from '@jest/globals'
import { endAll } from './at-end.ts'

/** The time limit of a test or a hook that sets none. */
const LIMIT_MS = 60_000
/** Events that would end the process, and with it the tests of other files. */
const UNHANDLED = ['unhandledRejection', 'uncaughtException'] as const

type Body = (...args: never[]) => unknown
type Define = (name: string, body: Body, limitMs?: number) => void

// what jest-light-runner defines, which knows no limits
const given = globalThis as unknown as typeof Globals

// a test may replace them
const { setTimeout, clearTimeout } = globalThis

/** @returns the body, which fails after `limitMs` milliseconds, and with what nobody handles meanwhile. */
function limited(body: Body, limitMs = LIMIT_MS): Body {
  return async (...args) => {
    const cut = Promise.withResolvers<never>()
    const timer = setTimeout(() => cut.reject(new Error(`It took longer than ${limitMs} ms.`)), limitMs)
    for (const event of UNHANDLED) process.on(event, cut.reject)
    try {
      return await Promise.race([body(...args), cut.promise])
    } finally {
      for (const event of UNHANDLED) process.off(event, cut.reject)
      clearTimeout(timer)
    }
  }
}

const withLimit =
  (define: Define): Define =>
  (name, body, limitMs) =>
    define(name, limited(body, limitMs))

const eachWithLimit =
  (each: (...table: unknown[]) => Define) =>
  (...table: unknown[]) =>
    withLimit(each(...table))

const hookWithLimit = (hook: (body: Body) => void) => (body: Body, limitMs?: number) =>
  hook(limited(body, limitMs))

export const it = Object.assign(withLimit(given.it as Define), {
  each: eachWithLimit(given.it.each as never),
})
export const test = it
export const beforeAll = hookWithLimit(given.beforeAll as never)
export const beforeEach = hookWithLimit(given.beforeEach as never)
export const afterEach = hookWithLimit(given.afterEach as never)
export const afterAll = hookWithLimit(given.afterAll as never)
export const { describe, expect, jest } = given

afterAll(endAll)
