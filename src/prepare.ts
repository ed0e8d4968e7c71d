import { workflowBundle } from './workflow-bundle.ts'

// npm runs this at the end of every install. Importing what API, worker and `npm start` load fills the compile cache
// (see preload.cjs), so the first start is as fast as later ones.
await Promise.all([
  workflowBundle(),
  import('../activities/index.ts'),
  import('./app.ts'),
  import('./core/database/orm.ts'),
  import('./embedded/sandbox.ts'),
])
