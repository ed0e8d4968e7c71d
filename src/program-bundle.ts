import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import path from 'node:path'
import { build, type Plugin } from 'esbuild'
import { folder, type Manifest, manifestFile, readManifest } from './prepared.ts'
import { HOUR_MS } from './core/values/durations.ts'
import { hashOfProduct, root } from './config/sources.ts'
import { replaceFile } from './replace-file.ts'

/** What people and deployments start most, as far as it is there: the embedded servers can be taken out. */
export const programs = ['src/server.ts', 'src/worker.ts', 'src/start.ts', 'src/staff.ts'].filter((file) =>
  existsSync(path.join(root, file)),
)

/** Has native code or threads, or finds its files by where its code is. */
const external = ['@temporalio/*', '@scalar/fastify-api-reference', 'pino']

/** Packages that are CommonJS require what Node has. */
const banner = "const require = process.getBuiltinModule('node:module').createRequire(import.meta.url);"

/**
 * Bundles the programs, each into a file of its own and others that they share, unless what there is is up to date. See
 * `runPrepared`. Without npm's record of what is installed nothing could tell that, and it does nothing.
 */
export async function bundlePrograms(): Promise<void> {
  const hash = hashOfProduct()
  if (hash === undefined || readManifest().hash === hash) return
  const { outputFiles, metafile } = await build({
    absWorkingDir: root,
    entryPoints: programs,
    entryNames: '[name]-[hash]',
    outdir: folder,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    splitting: true,
    // MikroORM compares the names of classes
    keepNames: true,
    write: false,
    metafile: true,
    platform: 'node',
    format: 'esm',
    target: 'node22.18',
    mainFields: ['module', 'main'],
    legalComments: 'none',
    sourcemap: 'linked',
    sourcesContent: false,
    logLevel: 'error',
    banner: { js: banner },
    external,
    plugins: [plugin],
  })
  mkdirSync(folder, { recursive: true })
  removeFormer()
  // each name has a hash of what is in it: a program that starts meanwhile finds what belongs to what it has loaded
  for (const { path: file, contents } of outputFiles) replaceFile(file, contents)
  const manifest: Manifest = { hash, programs: {} }
  for (const [file, { entryPoint = '' }] of Object.entries(metafile.outputs))
    if (programs.includes(entryPoint)) manifest.programs[entryPoint] = path.basename(file)
  replaceFile(manifestFile, JSON.stringify(manifest))
}

const fromBundle = (file: string) => path.relative(folder, file).replaceAll('\\', '/')

/** A map of packages' lines, too, would be five times as large, and is read at each start: each line is the first one. */
const FIRST_LINE = `//# sourceMappingURL=data:application/json;base64,${Buffer.from(
  JSON.stringify({ version: 3, sources: [''], mappings: 'AAAA' }),
).toString('base64')}`

const plugin: Plugin = {
  name: 'sources and packages',
  setup: (builder) => {
    // what the preload has read of the sources is not read again
    builder.onResolve({ filter: /\/sources\.ts$/ }, () => ({
      path: fromBundle(path.join(root, 'src/config/sources.ts')),
      external: true,
    }))
    builder.onLoad({ filter: /\.ts$/ }, ({ path: file }) => ({
      contents: aboutItself(file, readFileSync(file, 'utf8')),
      loader: 'ts',
    }))
    builder.onLoad({ filter: /[\\/]node_modules[\\/].*\.[cm]?js$/ }, ({ path: file }) => ({
      contents: `${readFileSync(file, 'utf8')}\n${FIRST_LINE}`,
    }))
  },
}

/** @returns the source, whose `import.meta` is about the source instead of about the bundle. */
function aboutItself(file: string, source: string): string {
  const url = `new URL('${fromBundle(file)}', import.meta.url)`
  const folderOfIt = `process.getBuiltinModule('path').dirname(process.getBuiltinModule('url').fileURLToPath(${url}))`
  return source.replaceAll('import.meta.url', `${url}.href`).replaceAll('import.meta.dirname', folderOfIt)
}

/** What an earlier run made, but for what a program that is just starting may still load. */
function removeFormer(): void {
  for (const name of readdirSync(folder)) {
    const file = path.join(folder, name)
    if (Date.now() - statSync(file).mtimeMs > HOUR_MS) rmSync(file)
  }
}
