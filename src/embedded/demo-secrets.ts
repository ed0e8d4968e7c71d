import { decryptSecret } from '../webhooks/secrets.ts'

/**
 * Reads the signing secrets of whoever has its webhooks sent to `endpointUrl`, or wants to: a partner may replace the one
 * that `npm start` gave it. The connection is opened when a webhook first needs it, and stays.
 */
export function demoSecrets(databaseUrl: string, encryptionKeys: readonly Buffer[]) {
  let connecting: Promise<Awaited<ReturnType<typeof connect>>> | undefined
  return async (endpointUrl: string): Promise<string[]> => {
    connecting ??= connect(databaseUrl)
    const sql = await connecting
    const [stored, asked] = await Promise.all([
      sql
        .selectFrom('endpoint_secrets')
        .innerJoin('endpoints', 'endpoints.id', 'endpoint_id')
        .select('ciphertext')
        .where('url', '=', endpointUrl)
        .execute(),
      sql.selectFrom('endpoint_changes').select('ciphertext').where('url', '=', endpointUrl).execute(),
    ])
    return [...stored, ...asked].map(({ ciphertext }) => decryptSecret(ciphertext, encryptionKeys))
  }
}

async function connect(databaseUrl: string) {
  const orm = await import('../db/orm.ts')
  return orm.sqlOf(await orm.connect(databaseUrl))
}
