import { createHash, randomBytes } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { unprivilegedOwner } from './postgres-programs.ts'

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
  endpointSecret: string
}

const fileIn = (dataDirectory: string) => path.join(dataDirectory, 'embedded.json')

/** The settings of this data directory, generated on its first use. */
export function readSettings(dataDirectory: string): Settings {
  const known = knownSettings(dataDirectory)
  const settings = {
    postgresPassword: randomBytes(24).toString('base64url'),
    encryptionKey: randomBytes(32).toString('base64'),
    ...known,
  }
  if (!known) saveSettings(dataDirectory, settings)
  return settings
}

function knownSettings(dataDirectory: string): Settings | undefined {
  const file = fileIn(dataDirectory)
  if (!existsSync(file)) return undefined
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Settings
  } catch (cause) {
    throw new Error(
      `${file} cannot be read (it may have been cut off): restore a copy, or delete everything in .data/ and start over: npm start -- --fresh`,
      { cause },
    )
  }
}

export function saveSettings(dataDirectory: string, settings: Settings): void {
  writePrivately(fileIn(dataDirectory), settings)
}

/** Replaces a JSON file atomically, also if the power fails. It holds secrets, so only its owner can read it. */
export function writePrivately(file: string, content: object): void {
  writeFileSync(`${file}.new`, `${JSON.stringify(content, null, 2)}\n`, { mode: 0o600, flush: true })
  renameSync(`${file}.new`, file)
}

/** What `--fresh` keeps: the record of this very run, and PostgreSQL's programs. */
const kept = ['run.json', 'postgres']

/**
 * Removes what this start cannot use:
 *
 * - everything, if `asked`;
 * - PostgreSQL's data, if the settings with its password are gone: as root it is kept outside the data directory;
 * - Temporal's data, if PostgreSQL's is gone, as leads are numbered from 1 again and would meet the workflows of
 *   their predecessors.
 */
export function removeUnusable(dataDirectory: string, asked: boolean, environment: NodeJS.ProcessEnv): void {
  const settings = asked ? undefined : knownSettings(dataDirectory)
  const data = path.join(postgresFolder(dataDirectory), 'data')
  if (!settings) rmSync(data, { recursive: true, force: true })
  const isUnusable = (name: string) =>
    name.startsWith('temporal.db') && (!settings || !(environment.DATABASE_URL || existsSync(data)))
  const names = readdirSync(dataDirectory)
  const unusable = asked ? names.filter((name) => !kept.includes(name)) : names.filter(isUnusable)
  for (const name of unusable) rmSync(path.join(dataDirectory, name), { recursive: true, force: true })
}

/** As root, PostgreSQL runs as another user, who may be unable to reach the data directory. */
export function postgresFolder(dataDirectory: string): string {
  if (!unprivilegedOwner()) return path.join(dataDirectory, 'postgres')
  const hash = createHash('sha256').update(dataDirectory).digest('hex').slice(0, 12)
  return path.join('/var/lib', `partner-referral-service-${hash}`)
}
