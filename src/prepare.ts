import { bundleWorkflows } from './temporal/workflow-bundle.ts'

// npm runs this at the end of every install
await bundleWorkflows()
