import { X509Certificate } from 'node:crypto'
import { Gauge, type Registry } from 'prom-client'
import { DAY_MS } from '../core/values/durations.ts'

/** The certificates that a process uses, in PEM, as it read them at its start. */
export type Certificates = Readonly<Record<string, string | Buffer | undefined>>

/** Registers in how many days each certificate ends: that of a chain's owner, which comes first. */
export function registerCertificates(registry: Registry, certificates: Certificates): void {
  const ends = Object.entries(certificates).flatMap(([certificate, pem]) => {
    const at = pem === undefined ? undefined : endOf(pem)
    return at === undefined ? [] : [{ certificate, at }]
  })
  const gauge: Gauge = new Gauge({
    name: 'referrals_certificate_days_left',
    help: 'Days until a certificate of this process ends',
    labelNames: ['certificate'],
    registers: [registry],
    collect() {
      for (const { certificate, at } of ends) gauge.set({ certificate }, (at - Date.now()) / DAY_MS)
    },
  })
}

/** @returns `undefined` for what is no certificate: whoever uses it says so. */
function endOf(pem: string | Buffer): number | undefined {
  try {
    return Date.parse(new X509Certificate(pem).validTo)
  } catch {
    return undefined
  }
}
