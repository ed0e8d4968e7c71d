import { InvalidArgumentError } from 'commander'
import { type AuditLine, auditLines, BEGINNING, hashOf, idOfHash } from '../statements/audit-chain.ts'
import type { Sql } from '../../../core/database/orm.ts'
import { fields } from '../../../staff/answer.ts'
import type { StaffContext } from '../../../staff/context.ts'

/** Where the audit's end was, as it was logged. */
interface Head {
  id: number
  hash: string
}

interface Finding {
  kind: 'changed' | 'missing' | 'reordered' | 'other_head'
  /** The row where it shows. */
  id: number
  message: string
}

/** What is found after these is not listed. */
const MOST_FINDINGS = 20

/** `ID:HASH`, for an option that can be given more than once. */
export function addHead(text: string, others: Head[] = []): Head[] {
  const [, id, hash] = /^([1-9]\d{0,15}):([\da-f]{64})$/.exec(text) ?? []
  if (id === undefined || hash === undefined)
    throw new InvalidArgumentError('Use a head as a worker logged it (audit_head): ID:HASH.')
  return [...others, { id: Number(id), hash }]
}

/** Computes every hash anew, and compares each row with the one before and with the heads that were logged. */
export async function verify({ sql }: StaffContext, { head: heads = [] }: { head?: Head[] }) {
  const findings: Finding[] = []
  // of one row, different processes may have logged different hashes
  const awaited = Map.groupBy(heads, ({ id }) => id)
  let rows = 0
  let first: AuditLine | undefined
  let previous: AuditLine | undefined
  for await (const line of auditLines(sql)) {
    findings.push(...changeOf(line, awaited.get(line.id)), ...(await gapBefore(sql, line, previous)))
    awaited.delete(line.id)
    first ??= line
    previous = line
    rows += 1
    if (findings.length >= MOST_FINDINGS) break
  }
  if (findings.length < MOST_FINDINGS) findings.push(...[...awaited.keys()].map(missingHead))
  const head = previous === undefined ? null : `${previous.id}:${previous.hash}`
  return {
    json: { rows, first_id: first?.id ?? null, head, intact: findings.length === 0, findings },
    text: `${fields({ rows, from: first?.at, to: previous?.at, head })}\n\n${verdictOn(findings, heads)}`,
    failed: findings.length > 0,
  }
}

function changeOf(line: AuditLine, heads: Head[] = []): Finding[] {
  const { id, hash } = line
  if (hashOf(line) !== hash)
    return [{ kind: 'changed', id, message: `Row ${id} was changed: its hash is that of another content.` }]
  if (heads.every((head) => head.hash === hash)) return []
  const message = `Row ${id} is not the one whose hash was logged: it, or a row before it, was replaced.`
  return [{ kind: 'other_head', id, message }]
}

/** What is wrong between a row and the one before. */
async function gapBefore(sql: Sql, line: AuditLine, previous: AuditLine | undefined): Promise<Finding[]> {
  const { id, previous_hash: hash } = line
  if (hash === (previous?.hash ?? BEGINNING)) return []
  const before = await idOfHash(sql, hash)
  if (before !== undefined) {
    return [
      {
        kind: 'reordered',
        id,
        message: `Row ${id} is not in its place: it was written after row ${before}.`,
      },
    ]
  }
  const message =
    previous === undefined
      ? `What was before row ${id} is missing.`
      : `What was between row ${previous.id} and row ${id} is missing, or row ${previous.id} was replaced.`
  return [{ kind: 'missing', id, message }]
}

function missingHead(id: number): Finding {
  const message = `Row ${id}, whose hash was logged, is missing: the end was cut off, or PostgreSQL was restored (see "record show").`
  return { kind: 'missing', id, message }
}

function verdictOn(findings: Finding[], heads: Head[]): string {
  if (findings.length > 0) {
    const more = findings.length >= MOST_FINDINGS ? ['The rest was not looked at.'] : []
    return [...findings.map(({ message }) => message), ...more].join('\n')
  }
  return heads.length > 0
    ? 'Every row is unchanged and in its place, up to the given heads and after.'
    : 'Every row is unchanged and in its place. Whether rows were cut off at the end shows with a logged head: --head ID:HASH.'
}
