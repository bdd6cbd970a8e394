// What bots and integrations have in common: declared schemas, secrets, and the address of a server.
export {
  byteLength,
  checkEntries,
  checkSchemas,
  isMap,
  logUncheckedPatterns,
  type Schemas,
  withoutNullAttributes,
} from './schemas.js'
export {
  mergeSecrets,
  openSigningSecrets,
  rotateSigningSecret,
  type SealedSecrets,
} from './secrets.js'
export { isHttpAddress, requireServerAddress } from './server-address.js'
