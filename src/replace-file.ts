import { renameSync, writeFileSync } from 'node:fs'

/** Whoever reads it meanwhile gets all of the former contents, or all of the new. Its folder has to be there. */
export function replaceFile(file: string, contents: string | Uint8Array): void {
  const unfinished = `${file}.${process.pid}`
  writeFileSync(unfinished, contents)
  renameSync(unfinished, file)
}
