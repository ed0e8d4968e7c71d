import { once } from 'node:events'
import { processEnvironment } from './config.ts'
import { runningSandbox } from './embedded/run.ts'
import { carryOut } from './staff/program.ts'

// A reader may go away, as `head` does: nothing is left to say, because the answer comes last.
process.stdout.on('error', ({ code, message }: NodeJS.ErrnoException) => {
  if (code === 'EPIPE') process.exit()
  console.error(`The answer cannot be written: ${message}`)
  process.exit(1)
})

await carryOut(process.argv.slice(2), {
  environment: processEnvironment(),
  runningSandbox,
  write: async (text) => {
    if (!process.stdout.write(text)) await once(process.stdout, 'drain')
  },
  writeError: (text) => void process.stderr.write(text),
  endWith: (exitCode) => (process.exitCode = exitCode),
})
