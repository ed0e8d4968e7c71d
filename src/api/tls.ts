/** PEM: the certificate with its chain, and its private key. */
export interface TlsFiles {
  cert: Buffer | string
  key: Buffer | string
}

export const tlsProfile = { minVersion: 'TLSv1.2' as const }
