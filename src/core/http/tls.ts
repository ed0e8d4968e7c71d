/** PEM: the certificate chain and its private key. */
export interface TlsFiles {
  cert: Buffer | string
  key: Buffer | string
}

/** The OpenSSL of older versions rejects a list with an unknown name. */
const hasPostQuantum = Number.parseFloat(process.versions.openssl) >= 3.5

/**
 * Mozilla's "intermediate" profile, guidelines 6.0 (https://ssl-config.mozilla.org/guidelines/6.0.json): every
 * suite has forward secrecy and authenticated encryption. Why no DHE: docs/decisions/0019-tls-profile.md.
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
  ecdhCurve: `${hasPostQuantum ? 'X25519MLKEM768:' : ''}X25519:prime256v1:secp384r1`,
  // every suite is secure: let the client choose the one that its hardware accelerates
  honorCipherOrder: false,
}
