import { readKey, storeKey } from './api.js'

/**
 * Why a key is not used; empty if it may be tried. A production key is never stored or sent.
 *
 * @param {string} key
 */
export function refuseKey(key) {
  if (key.startsWith('prs_live_')) {
    return 'This is a production key (prs_live_…). The console works with sandbox keys only, so that nothing here can reach real borrowers. The key was neither stored nor sent.'
  }
  if (!key.startsWith('prs_test_')) return 'A sandbox key begins with prs_test_. npm start prints one.'
  if (!/^prs_test_[\w-]+$/.test(key)) return 'This key is mistyped or shortened. Copy the full key.'
  return ''
}

/**
 * A key from a link is used unless this tab has another one.
 *
 * @param {string} key
 * @returns {{ refusal?: string, offered?: string }} `offered`: the key to ask about
 */
export function takeLinkKey(key) {
  const refusal = refuseKey(key)
  const stored = readKey()
  if (stored === null && refusal === '') storeKey(key)
  if (stored === null || stored === key) return { refusal }
  return refusal === '' ? { offered: key } : { refusal }
}
