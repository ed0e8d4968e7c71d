import { write as writeTo, writeSync } from 'node:fs'
import type { DestinationStream } from 'pino'

/** Where lines are gathered, they are written once there are so many characters of them, or after `FLUSH_MS`. */
const CHUNK = 4096
const FLUSH_MS = 250
/** What is kept while nobody takes it, in characters: about 20,000 lines. */
const MOST_KEPT = 8 * 1024 * 1024
/** Until it is tried again, on a disk that is full or at a reader that does not read. */
const AGAIN_MS = 100
/** A process that ends waits so long for a reader that is behind. */
const END_MS = 1000

interface Options {
  fd?: number
  /** Whether to write many lines in one go; otherwise at once, and together those that come while others are written. */
  isGathering: boolean
  mostKept?: number
  /** Called once lines are written again, with how many were lost. */
  onLost: (lines: number) => void
}

/**
 * Writes lines to stdout beside the work: whoever logs waits for nothing, and no failure reaches it. While stdout takes
 * nothing, because its disk is full or its reader has stopped, lines are kept up to `mostKept`, and those after it are
 * lost and counted. pino's own destination ends the process on a full disk, and never ends one at its exit.
 */
export function logOutput({ fd = 1, isGathering, mostKept = MOST_KEPT, onLost }: Options): DestinationStream {
  const enough = isGathering ? CHUNK : 1
  let waiting: string[] = []
  let kept = 0
  let lost = 0
  let rest: Buffer | undefined
  let doing: 'nothing' | 'writing' | 'resting' = 'nothing'
  let beganAt = 0

  function begin(): void {
    if (doing !== 'nothing') return
    rest ??= take()
    if (rest === undefined) return
    doing = 'writing'
    beganAt = performance.now()
    writeTo(fd, rest, (error, written) => {
      doing = 'nothing'
      if (error) return again(error)
      rest = leftOf(rest, written)
      if (rest === undefined) tellLost()
      if (rest !== undefined || kept >= enough) begin()
    })
  }

  function again({ code }: NodeJS.ErrnoException): void {
    if (code === 'EPIPE') return drop()
    doing = 'resting'
    const goOn = () => {
      doing = 'nothing'
      begin()
    }
    setTimeout(goOn, AGAIN_MS).unref()
  }

  /** Nobody will ever read it. */
  function drop(): void {
    rest = undefined
    take()
  }

  function take(): Buffer | undefined {
    if (waiting.length === 0) return undefined
    const text = waiting.join('')
    waiting = []
    kept = 0
    return Buffer.from(text)
  }

  function tellLost(): void {
    if (lost === 0) return
    const lines = lost
    lost = 0
    onLost(lines)
  }

  /** The rest of the lines, as far as stdout takes them without making the process wait long. */
  function end(): void {
    // Node ends only after the write that is under way, which a reader that has stopped may never take
    if (doing === 'writing' && performance.now() - beganAt > END_MS) process.kill(process.pid, 'SIGKILL')
    // what is being written is written by the system
    let left = doing === 'writing' ? take() : (rest ?? take())
    const until = performance.now() + END_MS
    while (left !== undefined && performance.now() < until) {
      try {
        left = leftOf(left, writeSync(fd, left)) ?? take()
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') return
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, AGAIN_MS)
      }
    }
  }

  setInterval(begin, FLUSH_MS).unref()
  process.once('exit', end)
  return {
    write(line) {
      if (kept + (rest?.length ?? 0) + line.length > mostKept) {
        lost += 1
        return
      }
      waiting.push(line)
      kept += line.length
      if (kept >= enough) begin()
    },
  }
}

function leftOf(chunk: Buffer | undefined, written: number): Buffer | undefined {
  return chunk === undefined || written >= chunk.length ? undefined : chunk.subarray(written)
}
