import { execFile } from 'node:child_process'
import path from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** The folder with the programs of test/deploy/requirements.txt, as .ci/nightly makes it. */
const folder = process.env.DEPLOY_TOOLS

/** Where a program is: of the requirements, or of this machine. */
export const toolPath = (name: string) => (folder === undefined ? name : path.join(folder, name))

/** Runs one from the project's folder, and answers what it wrote. It rejects with what it wrote if it fails. */
export async function runTool(program: string, args: string[]): Promise<string> {
  const { stdout, stderr } = await run(program, args, { cwd: path.join(import.meta.dirname, '../..') })
  return stdout + stderr
}
