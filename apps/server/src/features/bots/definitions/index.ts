// What the definitions of bots, integrations, interfaces and plugins have in common.
export {
  highestOf,
  iconUrlOf,
  readmeUrlOf,
  requireName,
  requireOwnHandle,
  requirePublishable,
  requireVersion,
  stillUsed,
  visibilityIn,
} from './names.js'
export { withPublisher, withPublishers } from './publishers.js'
export {
  byteLength,
  checkEntries,
  checkSchemas,
  isHttpAddress,
  isMap,
  logUncheckedPatterns,
  requireNewStates,
  requireServerAddress,
  requireStateName,
  type Schemas,
  withoutNullAttributes,
} from './schemas.js'
export {
  mergeSecrets,
  openSigningSecrets,
  rotateSigningSecret,
  type SealedSecrets,
} from './secrets.js'
