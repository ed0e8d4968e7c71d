import { randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import path from 'node:path'

/** The demo partner, as far as it cannot be read back from the database. */
export interface DemoPartner {
  partnerId: number
  key: string
  endpointUrl: string
  endpointSecret: string
}

/** What one start leaves for the next. */
export interface Settings {
  postgresPassword: string
  /** As the service takes it: 32 bytes in base64. */
  encryptionKey: string
  demo?: DemoPartner
  /** Those that Temporal's data file has. */
  searchAttributes?: string[]
  /** The version of the workflows whose histories it has. */
  histories?: number
}

const fileIn = (dataDirectory: string) => path.join(dataDirectory, 'embedded.json')

/** The settings of this data directory, made up on its first use. */
export function readSettings(dataDirectory: string): Settings {
  const known = knownSettings(dataDirectory)
  if (known !== undefined) return known
  const settings = {
    postgresPassword: randomBytes(24).toString('base64url'),
    encryptionKey: randomBytes(32).toString('base64'),
  }
  saveSettings(dataDirectory, settings)
  return settings
}

/** Those that an earlier start has left; `undefined` when there are none. */
export function knownSettings(dataDirectory: string): Settings | undefined {
  const file = fileIn(dataDirectory)
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Settings) : undefined
}

/** Only the owner can read them: they hold secrets. */
export function saveSettings(dataDirectory: string, settings: Settings): void {
  writePrivately(fileIn(dataDirectory), settings)
}

/** Replaces a JSON file as a whole, so that nobody ever reads half of one. */
export function writePrivately(file: string, content: object): void {
  mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 })
  writeFileSync(`${file}.new`, `${JSON.stringify(content, null, 2)}\n`, { mode: 0o600 })
  renameSync(`${file}.new`, file)
}
