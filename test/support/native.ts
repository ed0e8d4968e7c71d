import { registerHooks } from 'node:module'

const globals = new URL('globals.ts', import.meta.url)

// Test files run as Node runs the service, without a virtual environment, and share the modules that they import. Only
// what `@jest/globals` offers is each file's own copy, so that its hooks belong to that file.
registerHooks({
  resolve: (specifier, context, nextResolve) =>
    specifier === '@jest/globals'
      ? {
          url: `${globals.href}?of=${encodeURIComponent(context.parentURL ?? '')}`,
          format: 'module-typescript',
          shortCircuit: true,
        }
      : nextResolve(specifier, context),
})

// A call that a test gave up may be repeated by Temporal's client after its file has ended and closed the connection. Without
// a listener, that ends the process, and with it the tests of other files. While a test runs, it fails by its own listener.
process.on('uncaughtException', (error) => {
  const isBetweenTests = process.listenerCount('uncaughtException') === 1
  if (isBetweenTests && error.message !== 'Channel has been shut down') throw error
})
