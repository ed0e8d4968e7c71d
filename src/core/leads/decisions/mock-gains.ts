import type { ScoreGains } from './event-payloads.ts'

/**
 * Made-up gains for a sandbox: plausible, and always the same for the same lead and key.
 *
 * @param number which score update of the lead it is, from 1: from one to the next, less time remains.
 */
export function mockGains(leadId: number, key: string, number: number): ScoreGains {
  const bits = mix(`${leadId} ${key}`)
  const monthsLeft = Math.max(1, 8 - number)
  return {
    experian_gain: (bits & 0xff) % 25,
    equifax_gain: ((bits >>> 8) & 0xff) % 25,
    transunion_gain: ((bits >>> 16) & 0xff) % 25,
    estimated_time_remaining: `${monthsLeft * 30}-${monthsLeft * 30 + 30} days`,
  }
}

/** The gains of a simulated score update, the lead's `number`th. */
export const simulatedGains = (leadId: number, number: number) => mockGains(leadId, `#${number}`, number)

/** FNV-1a with the final mix of MurmurHash3: 32 bits that differ with every character. */
function mix(text: string): number {
  let hash = 0x811c9dc5
  for (const character of text) hash = Math.imul(hash ^ (character.codePointAt(0) ?? 0), 0x01000193)
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return (hash ^ (hash >>> 16)) >>> 0
}
