import { readdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import path from 'node:path'
import { describe, expect, it } from '@jest/globals'
import type { History } from '@temporalio/common/lib/proto-utils.js'
import { Worker } from '@temporalio/worker'
import { workflowBundle } from '../../src/temporal/workflow-bundle.ts'
import { schedules } from '../../src/temporal/schedules.ts'
import * as workflows from '../../workflows/index.ts'
import { installQuietRuntime } from '../support/quiet-runtime.ts'
import { CONTINUED, otherScenes, scenes } from './scenes.ts'

const folder = path.join(import.meta.dirname, 'histories')
const files = readdirSync(folder)
installQuietRuntime()

interface Recorded {
  events: {
    eventType: string
    workflowExecutionStartedEventAttributes?: {
      workflowType: { name: string }
    }
  }[]
}

describe('recorded histories', () => {
  it('are there for every scene and every workflow', () => {
    const names = [scenes, otherScenes].flatMap(Object.keys).concat(CONTINUED)
    expect(files).toEqual(names.map((name) => `${name}.json`).toSorted())
    const types = files.map(
      (file) => eventsOf(file)[0]?.workflowExecutionStartedEventAttributes?.workflowType.name,
    )
    // workflows of schedules are one activity each
    const scheduled = Object.keys(schedules)
    expect(new Set([...types, ...scheduled])).toEqual(new Set(Object.keys(workflows)))
  })

  it('replay with the workflows as they are', async () => {
    expect(await replay(files.map((file) => [file, textOf(file)]))).toEqual({})
  }, 60_000)
})

function textOf(file: string): string {
  return readFileSync(path.join(folder, file), 'utf8')
}

function eventsOf(file: string): Recorded['events'] {
  return (JSON.parse(textOf(file)) as Recorded).events
}

/** The failures of histories that do not replay, by name. */
async function replay(histories: [name: string, text: string][]): Promise<Record<string, string>> {
  const failures: Record<string, string> = {}
  const replayed = Worker.runReplayHistories(
    { workflowBundle: await workflowBundle() },
    histories.map(([workflowId, text]) => ({ workflowId, history: historyFrom(text) })),
  )
  for await (const { workflowId, error } of replayed)
    if (error) failures[workflowId] = `${error.name}: ${error.message}`
  return failures
}

/**
 * npm installs a protobufjs for each package of Temporal, and one copy does not take the types of another: the SDK reads
 * no history from JSON. Here the copy of @temporalio/proto does, which has the types.
 */
function historyFrom(text: string): History {
  const ofCommon = createRequire(createRequire(import.meta.url).resolve('@temporalio/common'))
  const ofProto = createRequire(ofCommon.resolve('@temporalio/proto'))
  const { fromJson } = ofProto('protobufjs/ext/protojson') as ProtoJson
  const { patchProtobufRoot } = ofCommon('@temporalio/proto/lib/patch-protobuf-root') as ProtoRoot
  const type = patchProtobufRoot(ofCommon('@temporalio/proto')).lookupType('temporal.api.history.v1.History')
  return fromJson(type, JSON.parse(text), { ignoreUnknownFields: true })
}

interface ProtoJson {
  fromJson: (type: unknown, json: unknown, options: { ignoreUnknownFields: boolean }) => History
}

interface ProtoRoot {
  patchProtobufRoot: (root: unknown) => { lookupType: (name: string) => unknown }
}
