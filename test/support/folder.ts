import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { atEnd } from './at-end.ts'

/** An empty folder of one's own, removed after the last test of the file. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'referrals-'))
  atEnd(async () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }))
  return folder
}
