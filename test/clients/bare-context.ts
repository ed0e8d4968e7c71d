import { readFileSync } from 'node:fs'
import path from 'node:path'
import vm from 'node:vm'

/** What Workers have, of all that Node and browsers have. */
const { AbortController, AbortSignal, Headers, Request, Response, TextDecoder, TextEncoder, URL } = globalThis
const { atob, btoa, clearTimeout, crypto, fetch, setTimeout } = globalThis
const classes = { AbortController, AbortSignal, Headers, Request, Response, TextDecoder, TextEncoder, URL }
const functions = { atob, btoa, clearTimeout, crypto, fetch, setTimeout }

/**
 * Runs a module beside those of `folder`, where there is nothing but `fetch`, WebCrypto and their like: an import of one of
 * Node's modules fails. It tells by `answers.push`.
 */
export async function runBare(folder: string, program: string): Promise<unknown[]> {
  const answers: unknown[] = []
  const context = vm.createContext({ ...classes, ...functions, answers })
  const modules = new Map<string, vm.SourceTextModule>()
  const load = (file: string) => {
    const code = () => readFileSync(path.join(folder, file), 'utf8')
    const module = modules.get(file) ?? new vm.SourceTextModule(code(), { context, identifier: file })
    modules.set(file, module)
    return module
  }
  const main = new vm.SourceTextModule(program, { context, identifier: 'program' })
  await main.link((specifier) => load(specifier))
  await main.evaluate()
  return answers
}
