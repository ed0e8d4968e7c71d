import { createDecipheriv } from 'node:crypto'
import { Migration } from '@mikro-orm/migrations'
import { takeKeys } from '../migration-keys.ts'
import { keyId, seal } from '../../sealing/seal.ts'

interface Row {
  id: number
  ciphertext: string
  /** Whether somebody may sign with it. */
  is_used: boolean
}

const USED = {
  endpoint_secrets: 'expires_at is null or expires_at > now()',
  endpoint_changes: `state in ('candidate', 'announced')`,
}

/** Signing secrets were encrypted already, but one opened in any row: from here on only in its own. */
export class Migration20261122060100_secrets_in_their_place extends Migration {
  override async up(): Promise<void> {
    await this.reseal('endpoint_secrets')
    await this.reseal('endpoint_changes')
  }

  private async reseal(table: keyof typeof USED): Promise<void> {
    const rows = (await this.execute(
      `select id, ciphertext, ${USED[table]} as is_used from ${table}`,
    )) as unknown as Row[]
    if (rows.length === 0) return
    const keys = await takeKeys(this, this.config)
    for (const { id, ciphertext, is_used } of rows) {
      const secret = openAnywhere(ciphertext, keys)
      if (secret === undefined && is_used) throw new Error(lacking(table, id, ciphertext))
      // nobody needs it any more
      if (secret === undefined) continue
      const sealed = seal(secret, `${table}:${id}:ciphertext`, keys)
      await this.execute(`update ${table} set ciphertext = ? where id = ?`, [sealed, id])
    }
  }
}

/** The format until then: only the header was bound to the text. */
function openAnywhere(ciphertext: string, keys: readonly Buffer[]): string | undefined {
  const [, header = '', id, text = ''] = /^(v1\.([0-9a-f]{8}))\.([\w-]+)$/.exec(ciphertext) ?? []
  const key = keys.find((candidate) => keyId(candidate) === id)
  if (key === undefined) return undefined
  const bytes = Buffer.from(text, 'base64url')
  try {
    const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, 12), { authTagLength: 16 })
    decipher.setAAD(Buffer.from(header)).setAuthTag(bytes.subarray(-16))
    return Buffer.concat([decipher.update(bytes.subarray(12, -16)), decipher.final()]).toString('utf8')
  } catch {
    return undefined
  }
}

function lacking(table: string, id: number, ciphertext: string): string {
  const key = ciphertext.split('.')[1] ?? '?'
  return `${table} ${id} cannot be decrypted: add the key ${key} to ENCRYPTION_KEY, after the current one, separated by a comma`
}
