/** Checks failed, or the service refused to go on. */
export const FAILED = 1
/** The command was called in a way that cannot work. */
export const USAGE = 2

/** Ends the program with one line, which says what to do. */
export class Refusal extends Error {
  readonly exitCode: number

  constructor(message: string, exitCode: number, options?: ErrorOptions) {
    super(message, options)
    this.exitCode = exitCode
  }
}
