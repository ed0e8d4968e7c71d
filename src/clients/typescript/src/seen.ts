/**
 * Remembers which webhooks were handled. With a database, `once` is one transaction: it inserts the id, handles, and
 * commits, so that the handler’s own writes and the id are there both or neither. The README has it for PostgreSQL.
 */
export interface Seen<Context> {
  /**
   * Calls `handle` unless a call with this id has succeeded; waits for one that runs. Rejects, and remembers nothing, if
   * `handle` does.
   *
   * @param id the `webhook-id`.
   */
  once: (id: string, handle: (context: Context) => Promise<void>) => Promise<void>
}

/** Remembers the last ids, until the process ends. */
export function inMemory(most = 100_000): Seen<void> {
  const handled = new Map<string, Promise<void>>()
  return {
    async once(id, handle) {
      const handling = handled.get(id) ?? handle()
      handled.set(id, handling)
      try {
        await handling
      } catch (error) {
        handled.delete(id)
        throw error
      }
      const [oldest] = handled.keys()
      if (handled.size > most && oldest !== undefined) handled.delete(oldest)
    },
  }
}
