import { createRequire, registerHooks } from 'node:module'
import { pathToFileURL } from 'node:url'

/**
 * npm installs a copy of protobufjs for each package of Temporal, and one copy does not accept the types of another:
 * reading or writing a history as JSON fails with "type must be a Type". From here on, what is imported shares one copy.
 */
export function shareProtobuf(): void {
  const worker = createRequire(import.meta.url).resolve('@temporalio/worker')
  const proto = createRequire(createRequire(worker).resolve('@temporalio/proto'))
  const names = ['protobufjs', 'protobufjs/light', 'protobufjs/minimal', 'protobufjs/ext/protojson']
  const shared = new Map(names.map((specifier) => [specifier, pathToFileURL(proto.resolve(specifier)).href]))
  registerHooks({
    resolve(specifier, context, next) {
      const url = context.parentURL?.includes('/@temporalio/') ? shared.get(specifier) : undefined
      return url === undefined ? next(specifier, context) : { url, shortCircuit: true }
    },
  })
}
