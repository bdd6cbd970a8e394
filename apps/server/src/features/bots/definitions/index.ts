// What the definitions of bots and integrations have in common.
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
