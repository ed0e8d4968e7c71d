import { execFile } from 'node:child_process'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, it } from '@jest/globals'
import * as workflows from '../../workflows/index.ts'
import { temporaryFolder } from '../support/folder.ts'
import { preload } from '../support/processes.ts'
import { crossing, idleCrossing, otherScenes, scenes } from './scenes.ts'

const program = path.join(import.meta.dirname, '../../src/replay-histories.ts')
const folder = path.join(import.meta.dirname, 'histories')
const files = readdirSync(folder)

interface History {
  events: {
    eventType: string
    workflowExecutionStartedEventAttributes?: {
      originalExecutionRunId: string
      workflowType: { name: string }
    }
    workflowExecutionContinuedAsNewEventAttributes?: { newExecutionRunId: string }
  }[]
}

describe('recorded histories', () => {
  it('are there for every scene and every workflow', () => {
    const names = [scenes, otherScenes].flatMap(Object.keys).concat(crossing, idleCrossing)
    expect(files).toEqual(expect.arrayContaining(names.map((name) => `${name}.json`)))
    const types = files.map(
      (file) => historyOf(file)[0]?.workflowExecutionStartedEventAttributes?.workflowType.name,
    )
    expect(new Set(types)).toEqual(new Set(Object.keys(workflows)))
  })

  it.each([[crossing], [idleCrossing]])(
    'cross from a run that continues as new into the next: %j',
    (runs) => {
      const [last, first] = runs.map((name, index) => {
        return historyOf(`${name}.json`).at(index - 1)
      })
      expect(last?.eventType).toBe('EVENT_TYPE_WORKFLOW_EXECUTION_CONTINUED_AS_NEW')
      expect(first?.workflowExecutionStartedEventAttributes?.originalExecutionRunId).toBe(
        last?.workflowExecutionContinuedAsNewEventAttributes?.newExecutionRunId,
      )
    },
  )

  it('replay with the workflows as they are', async () => {
    expect(await replay(folder)).toEqual({
      code: 0,
      stderr: '',
      stdout: `{"replayed":${files.length},"failures":{}}\n`,
    })
  }, 60_000)

  it('do not replay once another activity was scheduled', async () => {
    const other = temporaryFolder()
    const history = readFileSync(path.join(folder, 'started.json'), 'utf8')
    writeFileSync(path.join(other, 'started.json'), history.replaceAll('"welcome"', '"recordMilestones"'))
    const { code, stdout, stderr } = await replay(other)
    const { failures } = JSON.parse(stdout) as { failures: Record<string, string> }
    expect(failures['started.json']).toMatch(/DeterminismViolationError|Nondeterminism/)
    expect(stderr).toMatch(/^Don’t release this build: 1 of 1 histories do not replay with it\. See .+\n$/)
    expect(code).toBe(1)
  }, 60_000)

  it('are missing in a folder without any, which proves nothing', async () => {
    const empty = temporaryFolder()
    expect(await replay(empty)).toEqual({
      code: 1,
      stdout: '',
      stderr: `${empty} has no histories (*.json): nothing was replayed.\n`,
    })
  })
})

function historyOf(file: string): History['events'] {
  return (JSON.parse(readFileSync(path.join(folder, file), 'utf8')) as History).events
}

function replay(histories: string): Promise<{ code: number; stdout: string; stderr: string }> {
  return new Promise((resolve) => {
    execFile(process.execPath, [...preload, program, histories], (error, stdout, stderr) =>
      resolve({ code: Number(error?.code ?? 0), stdout, stderr }),
    )
  })
}
