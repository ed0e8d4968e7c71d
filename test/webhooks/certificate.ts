import { generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto'

const DAY_MS = 86_400_000

export interface Certificate {
  cert: string
  key: string
  name: Buffer
  privateKey: KeyObject
}

interface Request {
  host: string
  /** The issuer; the certificate itself if absent. */
  issuer?: Certificate
  isAuthority?: boolean
  keyType?: 'ec' | 'rsa'
  /** In days from today. */
  from?: number
  until?: number
}

/** A certificate for tests, written in DER (RFC 5280) so that no openssl has to be installed. */
export function makeCertificate({
  host,
  issuer,
  isAuthority = false,
  keyType = 'ec',
  from = -1,
  until = 1,
}: Request): Certificate {
  const { publicKey, privateKey } =
    keyType === 'ec'
      ? generateKeyPairSync('ec', { namedCurve: 'P-256' })
      : generateKeyPairSync('rsa', { modulusLength: 2048 })
  const signer = issuer?.privateKey ?? privateKey
  const algorithm = signer.asymmetricKeyType === 'rsa' ? rsaWithSha256 : ecdsaWithSha256
  const name = sequence(set(sequence(oid('550403'), der(0x0c, Buffer.from(host)))))
  const subjectAltName = extension('551d11', sequence(der(0x82, Buffer.from(host))))
  const basicConstraints = extension(
    '551d13',
    sequence(...(isAuthority ? [der(0x01, Buffer.from([0xff]))] : [])),
  )
  const signed = sequence(
    der(0xa0, der(0x02, Buffer.from([2]))),
    der(0x02, Buffer.concat([Buffer.from([1]), randomBytes(8)])),
    algorithm,
    issuer?.name ?? name,
    sequence(time(from), time(until)),
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, sequence(basicConstraints, subjectAltName)),
  )
  const signature = sign('sha256', signed, signer)
  const certificate = sequence(signed, algorithm, der(0x03, Buffer.from([0]), signature))
  return {
    cert: `-----BEGIN CERTIFICATE-----\n${certificate.toString('base64')}\n-----END CERTIFICATE-----\n`,
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    name,
    privateKey,
  }
}

function der(tag: number, ...content: Buffer[]): Buffer {
  const value = Buffer.concat(content)
  return Buffer.concat([Buffer.from([tag, ...lengthOf(value)]), value])
}

/** In the fewest bytes, as DER requires. */
function lengthOf({ length }: Buffer): number[] {
  if (length < 128) return [length]
  return length < 256 ? [0x81, length] : [0x82, length >> 8, length & 255]
}

function sequence(...content: Buffer[]): Buffer {
  return der(0x30, ...content)
}

function set(...content: Buffer[]): Buffer {
  return der(0x31, ...content)
}

function oid(hex: string): Buffer {
  return der(0x06, Buffer.from(hex, 'hex'))
}

function extension(id: string, value: Buffer): Buffer {
  return sequence(oid(id), der(0x04, value))
}

function time(days: number): Buffer {
  const at = new Date(Date.now() + days * DAY_MS).toISOString()
  return der(0x18, Buffer.from(`${at.slice(0, 19).replace(/[-:T]/g, '')}Z`))
}

const ecdsaWithSha256 = sequence(oid('2a8648ce3d040302'))
const rsaWithSha256 = sequence(oid('2a864886f70d01010b'), der(0x05))
