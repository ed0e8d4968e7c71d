import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { type AddressInfo, connect } from 'node:net'
import path from 'node:path'
import { createServer } from 'node:tls'
import { makeCertificate } from '../webhooks/certificate.ts'
import { atEnd } from './at-end.ts'
import { temporaryFolder } from './folder.ts'

/** Ends TLS before Temporal: its address, and the file with the certificate that clients have to trust. */
export async function tlsProxy(target: string): Promise<{ address: string; certificateFile: string }> {
  const { cert, key } = makeCertificate({ host: 'localhost' })
  const certificateFile = path.join(temporaryFolder(), 'temporal.crt')
  writeFileSync(certificateFile, cert)
  const { hostname, port } = new URL(`tcp://${target}`)
  const server = createServer({ cert, key, ALPNProtocols: ['h2'] }, (inner) => {
    const outer = connect(Number(port), hostname)
    inner.on('error', () => {}).on('close', () => outer.destroy())
    outer.on('error', () => {}).on('close', () => inner.destroy())
    inner.pipe(outer).pipe(inner)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  atEnd(async () => void server.close())
  return { address: `localhost:${(server.address() as AddressInfo).port}`, certificateFile }
}
