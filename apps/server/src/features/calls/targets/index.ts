export { findBotTarget } from './bot-target.js'
export { createTargets, type Target, type Targets } from './targets.js'
