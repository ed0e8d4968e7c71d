/**
 * Reads the signing secrets of each partner whose URL, or candidate, is `endpointUrl`: a partner may replace the one
 * that `npm start` gave it. The connection is opened when a webhook first needs it, and stays.
 */
export function demoSecrets(databaseUrl: string, encryptionKeys: readonly Buffer[]) {
  let connecting: Promise<Awaited<ReturnType<typeof connect>>> | undefined
  return async (endpointUrl: string): Promise<string[]> => {
    connecting ??= connect(databaseUrl)
    const { sql, signingSecrets, openSecretOf } = await connecting
    const [endpoints, changes] = await Promise.all([
      sql.selectFrom('endpoints').select('id').where('url', '=', endpointUrl).execute(),
      sql
        .selectFrom('endpoint_changes')
        .select(['id', 'ciphertext'])
        .where('url', '=', endpointUrl)
        .where('state', '=', 'candidate')
        .execute(),
    ])
    const live = await Promise.all(endpoints.map(({ id }) => signingSecrets(sql, id, encryptionKeys)))
    return [...live.flat(), ...changes.map((change) => openSecretOf(change, encryptionKeys))]
  }
}

/** Imports late, because MikroORM takes half a second. */
async function connect(databaseUrl: string) {
  const [orm, { signingSecrets }, { openSecretOf }] = await Promise.all([
    import('../core/database/orm.ts'),
    import('../core/endpoints/statements/secrets.ts'),
    import('../core/endpoints/statements/changes.ts'),
  ])
  return { sql: orm.sqlOf(await orm.connect(databaseUrl)), signingSecrets, openSecretOf }
}
