// The API writes /console/service.js, from the table of milestones and its OpenAPI document.

export interface Milestone {
  name: string
  meaning: string
  once: boolean
  status: boolean
}

/** In the order of the journey. */
export const milestones: Milestone[]
/** Whether this deployment has test endpoints of its own. */
export const hasSinks: boolean
/** Why a partner may close a lead. */
export const closeReasons: string[]
