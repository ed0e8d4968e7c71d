import { workflowBundle } from './workflow-bundle.ts'

// npm runs this at the end of every install. What API, worker and `npm start` load is compiled as it is
// imported here (preload.cjs keeps that), so that the first start has as little to do as a later one.
await Promise.all([
  workflowBundle(),
  import('../activities/index.ts'),
  import('./app.ts'),
  import('./db/orm.ts'),
  import('./embedded/sandbox.ts'),
])
