/** How long to wait for PostgreSQL, each in milliseconds. PostgreSQL itself keeps those of locks, statements and transactions. */
export interface Patience {
  connectMs: number
  /** For a lock that another session holds. */
  lockMs?: number
  /** The limit of a statement, with its waits for locks; longer than `lockMs`, whose error is clearer. */
  statementMs?: number
  /** For the next statement of a transaction: a process that vanishes in one keeps its locks for no longer. */
  idleInTransactionMs?: number
  /** How long a connection may be silent; longer than `statementMs`, which keeps the connection. */
  silenceMs?: number
  /** What PostgreSQL shows the session as. */
  application?: string
}

export const IDLE_IN_TRANSACTION_MS = 10_000

/** By which PostgreSQL notices in 25 s, instead of two hours, that our machine is gone; in seconds, the last in milliseconds. */
const KEEPALIVE = {
  tcp_keepalives_idle: 10,
  tcp_keepalives_interval: 5,
  tcp_keepalives_count: 3,
  tcp_user_timeout: 25_000,
}

/** The settings of a session, by PostgreSQL's names; `undefined` where PostgreSQL decides. */
function settingsOf({ lockMs, statementMs, idleInTransactionMs, application }: Patience) {
  return {
    ...KEEPALIVE,
    lock_timeout: lockMs,
    statement_timeout: statementMs,
    idle_in_transaction_session_timeout: idleInTransactionMs,
    application_name: application,
  }
}

/**
 * How pg connects, with the settings of a session in the startup parameter `options`: they hold from its first
 * statement, and cost no way to PostgreSQL and back. Those that DATABASE_URL gives come last and win.
 */
export function sessionOptions(
  databaseUrl: string,
  patience: Patience,
): { connectionString: string; options: string } {
  const ours = Object.entries(settingsOf(patience)).flatMap(([name, value]) =>
    value === undefined ? [] : [`-c ${name}=${value}`],
  )
  const url = new URL(databaseUrl)
  const given = url.searchParams.getAll('options')
  // what stays in the URL would take the place of ours
  url.searchParams.delete('options')
  const connectionString = given.length === 0 ? databaseUrl : url.href
  return { connectionString, options: [...ours, ...given].join(' ') }
}
