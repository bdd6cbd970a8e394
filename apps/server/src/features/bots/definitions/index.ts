// The common part of the definitions of bots, integrations, interfaces and plugins.
export { createCatalogue, titlesIn } from './catalogue.js'
export {
  type Catalogue,
  type CatalogueSummaryRow,
  createCatalogueStore,
} from './catalogue-store.js'
export type { CatalogueColumns } from './catalogue-table.js'
export { countInstallation, countRemoval } from './installs-store.js'
export {
  highestOf,
  iconUrlOf,
  readmeUrlOf,
  requireName,
  requireVersion,
  stillUsed,
  visibilityIn,
} from './names.js'
export { withPublisher, withPublishers } from './publishers.js'
export { createPublishing, type PublishingDeps } from './publishing.js'
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
