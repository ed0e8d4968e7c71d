import { execFileSync } from 'node:child_process'
import { chownSync, mkdtempSync, rmdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { sql as raw } from 'kysely'
import type { Sql } from '../../../src/core/database/orm.ts'
import { atEnd } from '../../support/at-end.ts'

const MEGABYTES = 96

/**
 * Moves the tables to a small disk of their own, which can be filled. Only root can mount one.
 *
 * @param data the folder of the server's data, whose owner the disk gets.
 * @returns `undefined` where none can be mounted.
 */
export async function moveToSmallDisk(sql: Sql, data: string) {
  const folder = mkdtempSync(path.join(tmpdir(), 'referrals-disk-'))
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${MEGABYTES}m`, 'tmpfs', folder], { stdio: 'ignore' })
  } catch {
    rmdirSync(folder)
    return undefined
  }
  atEnd(async () => {
    execFileSync('umount', ['--lazy', folder])
    rmdirSync(folder)
  })
  const { uid, gid } = statSync(data)
  chownSync(folder, uid, gid)
  await raw`create tablespace small location ${raw.lit(folder)}`.execute(sql)
  await raw`alter table all in tablespace pg_default set tablespace small`.execute(sql)
  await raw`alter index all in tablespace pg_default set tablespace small`.execute(sql)
  const filler = path.join(folder, 'filler')
  return {
    fill() {
      try {
        for (const chunk = Buffer.alloc(1 << 16); ;) writeFileSync(filler, chunk, { flag: 'a' })
      } catch {
        // until nothing more fits
      }
    },
    makeRoom: () => rmSync(filler, { force: true }),
  }
}
