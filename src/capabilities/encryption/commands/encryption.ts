import type { Command } from 'commander'
import { keysInUse, retireKeys } from '../../../core/sealing/statements/encryption-keys.ts'
import { rewriteValues } from '../statements/rewrite-values.ts'
import { keyId } from '../../../core/sealing/seal.ts'
import { countValues, type KeyUse } from '../statements/sealed-values.ts'
import { table } from '../../../staff/answer.ts'
import { matching } from '../../../staff/arguments.ts'
import { notYetInUse, type StaffContext, type Run } from '../../../staff/context.ts'
import { Refusal } from '../../../staff/refusal.ts'

export function addEncryptionCommands(program: Command, run: Run): void {
  const encryption = program
    .command('encryption')
    .description('the keys under which personal data and signing secrets are stored')
  encryption.command('show').description('how many values are under which key').action(run(showKeysInUse))
  encryption
    .command('rewrite')
    .description(
      'move every value to the newest key, the first of ENCRYPTION_KEY; can be interrupted and repeated',
    )
    .action(run(rewrite))
  encryption
    .command('forget')
    .description('let API and worker start without a key that is lost; what is under it stays unreadable')
    .argument('<key>', 'its id', matching(/^[0-9a-f]{8}$/, 'Use a key’s id: see "encryption show".'))
    .action(run(forget))
}

export async function showKeysInUse({ sql, config }: StaffContext) {
  const keys = config.ENCRYPTION_KEY
  const uses = await countValues(sql)
  const needed = await keysInUse(sql)
  return {
    json: {
      newest_key: keys === undefined ? null : newestOf(keys),
      needed_keys: needed,
      values: uses.map(toJson),
    },
    text: uses.length === 0 ? 'Nothing is encrypted yet.' : tableOf(uses, keys),
  }
}

export async function rewrite(context: StaffContext) {
  const { sql, ownKeys } = context
  const newest = newestOf(ownKeys())
  const needed = await keysInUse(sql)
  if (needed.length > 0 && !needed.includes(newest)) throw new Refusal(notYetInUse(newest))
  const action = { action: 'encryption.rewrite', detail: { key: newest } }
  const { moved, unreadable, left } = await context.act(action, async () => {
    const rewritten = await rewriteValues(sql, ownKeys())
    const uses = await countValues(sql)
    const others = uses.filter(({ keyId: id }) => id !== newest)
    const retired = needed.filter((id) => id !== newest && others.every((use) => use.keyId !== id))
    await retireKeys(sql, retired)
    const detail = { ...rewritten, left: others.map(toJson), retired }
    return { result: { ...rewritten, left: others }, detail }
  })
  const isDone = left.length === 0
  return {
    json: { key: newest, moved, unreadable, left: left.map(toJson) },
    text: [
      `Moved ${moved} ${moved === 1 ? 'value' : 'values'} to the key ${newest}.`,
      isDone ? done(ownKeys()) : `${notDone(unreadable)}\n\n${tableOf(left, ownKeys())}`,
    ].join(' '),
    failed: !isDone,
  }
}

export async function forget(context: StaffContext, key: string) {
  const { sql, config } = context
  // it decrypts nothing: who has no keys cannot have this one
  if ((config.ENCRYPTION_KEY ?? []).some((own) => keyId(own) === key)) {
    throw new Refusal(`ENCRYPTION_KEY has the key ${key}: move what is under it with "encryption rewrite".`)
  }
  if (!(await keysInUse(sql)).includes(key)) throw new Refusal(`No process needs the key ${key}.`)
  const uses = (await countValues(sql)).filter((use) => use.keyId === key)
  const values = uses.reduce((sum, use) => sum + use.values, 0)
  await context.change(async ({ sql: trx, audit }) => {
    await retireKeys(trx, [key])
    await audit({ action: 'encryption.forget', detail: { key, values: uses.map(toJson) } })
  })
  return {
    json: { key, values: uses.map(toJson) },
    text: `API and worker start without the key ${key}. ${values} ${values === 1 ? 'value stays' : 'values stay'} unreadable until ENCRYPTION_KEY has it again.`,
  }
}

const newestOf = ([newest]: readonly Buffer[]) => (newest === undefined ? '' : keyId(newest))

function placeOf(id: string, keys: readonly Buffer[]): string {
  const place = keys.findIndex((key) => keyId(key) === id)
  return place === -1 ? 'missing' : place === 0 ? 'newest' : 'older'
}

function done(keys: readonly Buffer[]): string {
  const older = keys.slice(1).map(keyId)
  if (older.length === 0) return 'Nothing is under another key.'
  const which = older.length === 1 ? `the key ${older[0]}` : `the keys ${older.join(', ')}`
  return `Nothing is under another key: you may remove ${which} from ENCRYPTION_KEY, once every API and worker has been restarted with the newest key first. Keep the old one as long as you keep backups from before.`
}

function notDone(unreadable: number): string {
  return unreadable > 0
    ? `${unreadable} cannot be read, because their key is missing or they are damaged. Keep every older key.`
    : 'A process still writes with an older key: restart every API and worker with the newest key first, and run this again.'
}

/** Without keys, it says nothing of them. */
function tableOf(uses: KeyUse[], keys: readonly Buffer[] | undefined): string {
  return table(uses, {
    key: 'keyId',
    ...(keys !== undefined && { 'in ENCRYPTION_KEY': ({ keyId: id }: KeyUse) => placeOf(id, keys) }),
    in: 'where',
    values: 'values',
  })
}

const toJson = ({ keyId: key, where, values }: KeyUse) => ({ key, column: where, values })
