import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { makeCertificate } from '../webhooks/certificate.ts'
import { temporaryFolder } from './folder.ts'

/** Settings for an API with TLS of its own, whose certificate ends in so many days. */
export function certificateFiles(days: number) {
  const folder = temporaryFolder()
  const { cert, key } = makeCertificate({ host: 'localhost', until: days })
  const files = { TLS_CERT_FILE: path.join(folder, 'tls.crt'), TLS_KEY_FILE: path.join(folder, 'tls.key') }
  writeFileSync(files.TLS_CERT_FILE, cert)
  writeFileSync(files.TLS_KEY_FILE, key)
  return files
}
