/**
 * jest-light-runner's processes ask once for the configuration of a run. They wait for good if the answer comes before
 * they listen, or if they have no file yet when they ask. Loaded before them, this keeps an early answer, and asks again.
 */
const ASK = 'jest-light-runner-get-worker-data'
const ANSWER = 'jest-light-runner-worker-data'
const AGAIN_MS = 100

const send = process.send?.bind(process)
if (send !== undefined) {
  let answer: unknown
  process.on('message', (message: { type?: unknown } | null) => {
    if (message?.type === ANSWER) answer = message
  })
  process.send = (message: unknown, ...rest: never[]) => {
    if (message === ASK) askAgain()
    return send(message, ...rest)
  }

  function askAgain(): void {
    const timer = setInterval(() => {
      if (answer === undefined && process.connected) send?.(ASK)
      else clearInterval(timer)
      if (answer !== undefined) process.emit('message', answer, undefined)
    }, AGAIN_MS)
    timer.unref()
  }
}
