/**
 * Preloaded unless `WORKER_CALL_STACKS` is set. The SDK makes and formats a stack for each promise in a workflow, for the
 * Web UI's _Call Stack_: without a number here, V8 captures none, of errors neither. A limit of 0 would still have each
 * one formatted. Preloaded modules run before the SDK freezes `Error`.
 */
delete (Error as { stackTraceLimit?: number }).stackTraceLimit
