/** What is worked on: each lead’s in order, one after the other, and leads beside each other. */
export class Lanes {
  readonly #mostHeld: number
  readonly #lanes = new Map<number, Promise<void>>()
  readonly #waiting: (() => void)[] = []
  #held = 0

  /** @param mostHeld how many may be under way or wait, which bounds the memory. */
  constructor(mostHeld: number) {
    this.#mostHeld = mostHeld
  }

  get isFull(): boolean {
    return this.#held >= this.#mostHeld
  }

  /** Resolves once there is room for half of them. */
  async room(): Promise<void> {
    while (this.#held > this.#mostHeld / 2) await new Promise<void>((resolve) => this.#waiting.push(resolve))
  }

  /** Works after all before it of the same lead. `work` must not reject. */
  add(lead: number, work: () => Promise<void>): void {
    this.#held += 1
    const before = this.#lanes.get(lead) ?? Promise.resolve()
    const turn = before.then(work).finally(() => {
      this.#held -= 1
      if (this.#lanes.get(lead) === turn) this.#lanes.delete(lead)
      for (const resolve of this.#waiting.splice(0)) resolve()
    })
    this.#lanes.set(lead, turn)
  }

  /** Resolves once nothing is under way. */
  async idle(): Promise<void> {
    while (this.#lanes.size > 0) await Promise.allSettled(this.#lanes.values())
  }
}

/** So many at a time. */
export class Slots {
  #free: number
  readonly #waiting: (() => void)[] = []

  constructor(most: number) {
    this.#free = most
  }

  async within<Result>(work: () => Promise<Result>): Promise<Result> {
    if (this.#free > 0) this.#free -= 1
    else await new Promise<void>((resolve) => this.#waiting.push(resolve))
    try {
      return await work()
    } finally {
      const next = this.#waiting.shift()
      if (next === undefined) this.#free += 1
      else next()
    }
  }
}
