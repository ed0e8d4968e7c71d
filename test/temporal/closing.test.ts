import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect, it } from '@jest/globals'

const module = JSON.stringify(new URL('../../src/temporal/client.ts', import.meta.url))
/** Nobody listens there. A call is repeated after 170 ms or so, and then again. */
const script = `const { createTemporalClient, reachTemporal } = await import(${module})
  const temporal = { connectionOptions: { address: '127.0.0.1:1' }, namespace: 'default' }
  const { client } = createTemporalClient(temporal, { deployment: async () => '', log: console })
  const call = reachTemporal(client).catch((error) => console.log(error.message))
  await new Promise((resolve) => setTimeout(resolve, 250))
  await client.connection.close()
  await call`

it('a connection that is closed while a call is repeated throws nothing, and the call fails', async () => {
  const ended = promisify(execFile)(process.execPath, ['--input-type=module', '--eval', script])
  expect((await ended).stdout).not.toBe('')
})
