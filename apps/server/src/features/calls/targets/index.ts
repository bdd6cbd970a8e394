export { createTargets, findBotTarget, type Target, type Targets } from './targets.js'
