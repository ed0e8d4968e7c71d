import vm from 'node:vm'
import { build } from 'esbuild'

/** What Workers have, of all that Node and browsers have. */
const { AbortController, AbortSignal, Headers, Request, Response, TextDecoder, TextEncoder, URL } = globalThis
const { atob, btoa, clearTimeout, crypto, fetch, setTimeout } = globalThis
const classes = { AbortController, AbortSignal, Headers, Request, Response, TextDecoder, TextEncoder, URL }
const functions = { atob, btoa, clearTimeout, crypto, fetch, setTimeout }

/**
 * Runs a module beside those of `folder`, where there is nothing but `fetch`, WebCrypto and their like: an import of one of
 * Node's modules fails. What it exports as `ended` ends with it, and it tells by `answers.push`.
 */
export async function runBare(folder: string, program: string): Promise<unknown[]> {
  const { outputFiles } = await build({
    stdin: { contents: program, resolveDir: folder },
    bundle: true,
    platform: 'neutral',
    format: 'iife',
    globalName: 'program',
    write: false,
  })
  const answers: unknown[] = []
  const context = vm.createContext({ ...classes, ...functions, answers })
  await vm.runInContext(`${outputFiles[0]?.text}\nprogram.ended`, context)
  return answers
}
