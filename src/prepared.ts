import { readFileSync } from 'node:fs'
import { registerHooks, setSourceMapsSupport } from 'node:module'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { hashOfProduct, root } from './config/sources.ts'

/** Where the bundles of programs are. */
export const folder = path.join(root, 'dist')
export const manifestFile = path.join(folder, 'manifest.json')

export interface Manifest {
  /** Of what the bundles were made from. */
  hash: string
  /** By program, as `src/server.ts`: the file in the folder that runs it. */
  programs: Record<string, string>
}

/**
 * Has Node run the bundle of a program in its place, which loads a few files instead of two thousand. Does nothing if a
 * source or what is installed differs from what was bundled: the program runs from its sources then.
 */
export function runPrepared(program: string): void {
  const bundle = bundleOf(path.relative(root, program).replaceAll('\\', '/'))
  if (bundle === undefined) return
  // stacks name lines of the sources
  setSourceMapsSupport(true)
  const { href } = pathToFileURL(program)
  const hooks = registerHooks({
    resolve(specifier, context, next) {
      if (specifier !== href) return next(specifier, context)
      // it would slow down all that is loaded from here on
      hooks.deregister()
      return { url: pathToFileURL(bundle).href, format: 'module', shortCircuit: true }
    },
  })
}

/** @returns the file to run in place of a program, as `src/server.ts`; `undefined` if it is out of date, or there is none. */
export function bundleOf(program: string): string | undefined {
  const { hash, programs } = readManifest()
  const bundle = programs?.[program]
  return bundle !== undefined && hash !== undefined && hash === hashOfProduct()
    ? path.join(folder, bundle)
    : undefined
}

/** @returns nothing if nothing is prepared. */
export function readManifest(): Partial<Manifest> {
  try {
    return JSON.parse(readFileSync(manifestFile, 'utf8')) as Partial<Manifest>
  } catch {
    return {}
  }
}
