export {
  findIntegrationTarget,
  type IntegrationTargetDeps,
  targetOfInstallation,
} from './integration-target.js'
export { createTargets, findBotTarget, type Target, type Targets } from './targets.js'
