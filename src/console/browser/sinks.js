import { hasSinks } from './service.js'
import { words } from './words.js'

/** Whether webhooks go to a sink of ours. @param {string | null} url */
export const isSink = (url) => hasSinks && url !== null && url.includes('/sandbox/sinks/')

/**
 * Why our sink did not accept a webhook; `undefined` if its signature was not valid, which nobody told it to refuse.
 *
 * @param {{ status: number | null, error_code: string | null }} failed
 */
export function toldSink({ status, error_code: code }) {
  if (status === 400) return undefined
  return `our sink ${status === null ? `failed (${words(code ?? '').toLowerCase()})` : `answered ${status}`}, as it was told`
}
