/**
 * Checks whether the database can be used, and caches a yes. Concurrent calls share one check.
 *
 * @param find finds what to do first, in one line; `undefined` if nothing.
 * @param onRemedy is called once with each line.
 */
export function watchReadiness(
  find: () => Promise<string | undefined>,
  onRemedy: (remedy: string) => void,
): () => Promise<boolean> {
  let isReady = false
  let told: string | undefined
  let asking: Promise<boolean> | undefined

  async function ask(): Promise<boolean> {
    const remedy = await find()
    if (remedy !== undefined && remedy !== told) onRemedy(remedy)
    told = remedy ?? told
    isReady = remedy === undefined
    return isReady
  }

  return async () => {
    if (isReady) return true
    asking ??= ask().finally(() => (asking = undefined))
    return asking
  }
}
