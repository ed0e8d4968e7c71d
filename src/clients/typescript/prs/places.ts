/**
 * How far the feed may be forgotten: up to the event before the first that was not accepted. It holds what is open, and
 * nothing of what was accepted beyond: after a restart, that comes again.
 */
export class Places {
  /** By the order of reading: the place before each open event. */
  readonly #open = new Map<number, string | null>()
  #count = 0
  #read: string | null

  /** @param start where reading begins; `null` is the beginning of the feed. */
  constructor(start: string | null) {
    this.#read = start
  }

  /** An event was read, and has to be accepted. @returns what says that it was. */
  open(place: string): () => void {
    this.#count += 1
    const number = this.#count
    this.#open.set(number, this.#read)
    this.#read = place
    return () => void this.#open.delete(number)
  }

  /** An event was read that nobody has to accept. */
  pass(place: string): void {
    this.#read = place
  }

  /** Where to go on after a crash. */
  get safe(): string | null {
    for (const [, before] of this.#open) return before
    return this.#read
  }
}
