import { bundleWorkflows } from './workflow-bundle.ts'

// npm runs this at the end of every install
await bundleWorkflows()
