import type { Config, TemporalSettings } from '../config.ts'
import { remembered, requireDeployment } from '../core/record/statements/deployment.ts'
import { compareKeys, lackingKeys } from '../core/sealing/statements/encryption-keys.ts'
import { backgroundPatience } from '../core/database/mikro-orm.config.ts'
import { connect } from '../core/database/orm.ts'
import { sqlOf } from '../core/database/sql.ts'
import { createTemporalClient } from '../core/temporal/client.ts'
import { createEndpointStarter } from '../core/endpoints/workflows/endpoints.ts'
import { createReferrals } from '../core/leads/workflows/referrals.ts'
import { createResends } from '../core/deliveries/workflows/resend.ts'
import { type Actor, createActing } from './acting.ts'
import type { Answer, Printed } from './answer.ts'
import { Refusal } from './refusal.ts'

/** After this long, a command says that Temporal does not answer. */
const TEMPORAL_LIMIT_MS = 3000

const NO_KEY =
  'ENCRYPTION_KEY is not set: this command reads or writes what is encrypted. Set it as API and worker have it; see docs/settings.md.'

/** Staff may be the first to have a key that the processes lack, which could not read what it seals. */
export const notYetInUse = (key: string) =>
  `No API or worker has ${key} as its newest key yet: give it to all of them first, and restart them. See docs/operations/keys.md, "Replace the encryption key".`

/** Of a command; most use one. */
const CONNECTIONS = 4

/** What the commands work with. */
export type StaffContext = Awaited<ReturnType<typeof openContext>>

/** Makes a command's action out of what the command does; `Args` are what commander passes on. */
export type Run = <Args extends unknown[]>(
  act: (context: StaffContext, ...args: Args) => Promise<Answer | Printed>,
) => (...args: Args) => Promise<void>

/**
 * Connects to nothing before it is used.
 *
 * @param actor who acts, for the audit.
 */
export async function openContext(config: Config<'staff'>, temporal: TemporalSettings, actor: Actor) {
  const orm = await connect(config.DATABASE_URL, backgroundPatience, { connections: CONNECTIONS })
  const sql = sqlOf(orm)
  /** The deployment's id; rejects when the database is of the other environment. */
  const deployment = remembered(() => requireDeployment(sql, config.ENVIRONMENT))
  const { client, guard } = createTemporalClient(temporal, { deployment })
  /** Those of ENCRYPTION_KEY, whatever data is stored under. */
  const ownKeys = (): readonly Buffer[] => {
    if (config.ENCRYPTION_KEY === undefined) throw new Refusal(NO_KEY)
    return config.ENCRYPTION_KEY
  }
  return {
    config,
    sql,
    actor,
    deployment,
    ownKeys,
    /** For whatever opens; rejects when a key is missing under which data is stored. */
    openingKeys: async (): Promise<readonly Buffer[]> => {
      const { remedy } = await compareKeys(sql, ownKeys())
      if (remedy !== undefined) throw new Refusal(remedy)
      return ownKeys()
    },
    /** For whatever seals, too: it needs a key that API and worker have, or the first of all. */
    encryptionKeys: async (): Promise<readonly Buffer[]> => {
      const { unknown, isFirst } = await compareKeys(sql, ownKeys())
      if (unknown !== undefined && isFirst !== true) throw new Refusal(notYetInUse(unknown))
      const remedy = await lackingKeys(sql, ownKeys())
      if (remedy !== undefined) throw new Refusal(remedy)
      return ownKeys()
    },
    /** Rejects when the Temporal namespace is another deployment's. Calls about one workflow check that themselves. */
    requireOwnNamespace: guard,
    ...createActing(orm, actor),
    client,
    referrals: createReferrals({ client, sql, callLimitMs: TEMPORAL_LIMIT_MS }),
    startEndpoint: createEndpointStarter(client),
    resends: createResends(client),
    temporal: {
      address: temporal.connectionOptions.address,
      namespace: temporal.namespace,
      certificates: certificatesOf(temporal),
    },
    close: async () => void (await Promise.all([client.connection.close(), orm.close()])),
  }
}

/** Those that the connection to Temporal needs, in PEM. */
function certificatesOf({ connectionOptions: { tls } }: TemporalSettings): { name: string; pem: Buffer }[] {
  if (typeof tls !== 'object' || tls === null) return []
  const pems = {
    'of the client at Temporal': tls.clientCertPair?.crt,
    'of Temporal’s authority': tls.serverRootCACertificate,
  }
  return Object.entries(pems).flatMap(([name, pem]) => (pem ? [{ name, pem: Buffer.from(pem) }] : []))
}
