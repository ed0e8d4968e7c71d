import { createHash, randomBytes } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { unprivilegedUser } from './postgres.ts'

/** Where `npm start` keeps everything: npm runs scripts in the project's folder. */
export const defaultDataDirectory = path.resolve('.data')

/** What one start keeps for the next. */
export interface Settings {
  postgresPassword: string
  /** 32 bytes in base64, as the service takes it. */
  encryptionKey: string
  demo?: DemoPartner
}

/** The demo partner, as far as it cannot be read back from the database. */
export interface DemoPartner {
  partnerId: number
  key: string
  endpointUrl: string
}

const fileIn = (dataDirectory: string) => path.join(dataDirectory, 'embedded.json')

/** The settings of this data directory, generated on its first use. */
export function readSettings(dataDirectory: string): Settings {
  const file = fileIn(dataDirectory)
  if (!existsSync(file)) {
    const postgresPassword = randomBytes(24).toString('base64url')
    saveSettings(dataDirectory, { postgresPassword, encryptionKey: randomBytes(32).toString('base64') })
  }
  return JSON.parse(readFileSync(file, 'utf8')) as Settings
}

/** Replaces them atomically, also if the power fails. They are secrets, so only their owner can read them. */
export function saveSettings(dataDirectory: string, settings: Settings): void {
  const file = fileIn(dataDirectory)
  writeFileSync(`${file}.new`, `${JSON.stringify(settings, null, 2)}\n`, { mode: 0o600, flush: true })
  renameSync(`${file}.new`, file)
}

/** What a start that begins anew keeps: the socket of this run, and PostgreSQL's programs. */
const kept = ['run.sock', 'postgres']

/**
 * Removes all data if `fresh`, or if the settings with PostgreSQL's password are gone: as root, PostgreSQL's data is outside
 * the data directory. Temporal's data goes too: new leads are numbered from 1, and would meet the workflows of earlier ones.
 */
export function removeUnusable(dataDirectory: string, fresh: boolean): void {
  if (!fresh && existsSync(fileIn(dataDirectory))) return
  const remove = (...file: string[]) => rmSync(path.join(...file), { recursive: true, force: true })
  remove(postgresFolder(dataDirectory), 'data')
  for (const name of readdirSync(dataDirectory)) if (!kept.includes(name)) remove(dataDirectory, name)
}

/** As root, PostgreSQL runs as another user, who may be unable to reach the data directory. */
export function postgresFolder(dataDirectory: string): string {
  if (!unprivilegedUser()) return path.join(dataDirectory, 'postgres')
  const hash = createHash('sha256').update(dataDirectory).digest('hex').slice(0, 12)
  return path.join('/var/lib', `partner-referral-service-${hash}`)
}
