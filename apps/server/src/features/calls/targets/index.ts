export {
  findIntegrationTarget,
  type IntegrationTargetDeps,
  targetOfInstallation,
} from './integration-target.js'
export type { Target } from './target.js'
export { createTargets, findBotTarget, type Targets } from './targets.js'
