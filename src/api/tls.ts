import { createSecureContext } from 'node:tls'

/** PEM: the certificate with its chain, and its private key. */
export interface TlsFiles {
  cert: Buffer | string
  key: Buffer | string
}

/** Node 24.5 brings the OpenSSL that knows X25519MLKEM768; an older one refuses a list with a name that it does not know. */
function isKnown(group: string): boolean {
  try {
    createSecureContext({ ecdhCurve: group })
    return true
  } catch {
    return false
  }
}

/**
 * Mozilla's profile "intermediate", guidelines 6.0 (https://ssl-config.mozilla.org/guidelines/6.0.json): forward
 * secrecy and authenticated encryption in every suite. No DHE: see docs/decisions/0019-tls-profile.md.
 */
export const tlsProfile = {
  minVersion: 'TLSv1.2' as const,
  ciphers: [
    'TLS_AES_128_GCM_SHA256',
    'TLS_AES_256_GCM_SHA384',
    'TLS_CHACHA20_POLY1305_SHA256',
    'ECDHE-ECDSA-AES128-GCM-SHA256',
    'ECDHE-RSA-AES128-GCM-SHA256',
    'ECDHE-ECDSA-AES256-GCM-SHA384',
    'ECDHE-RSA-AES256-GCM-SHA384',
    'ECDHE-ECDSA-CHACHA20-POLY1305',
    'ECDHE-RSA-CHACHA20-POLY1305',
  ].join(':'),
  ecdhCurve: ['X25519MLKEM768', 'X25519', 'prime256v1', 'secp384r1'].filter(isKnown).join(':'),
  // every suite is good: the client knows which one its hardware is fast at
  honorCipherOrder: false,
}
