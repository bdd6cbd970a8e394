// Installations: the rows, and the rules for changing them.
export { setAccount, statusReasonOf } from './account.js'
export { findInstallationOfAccount, listInstallationsOfAccount } from './account-store.js'
export {
  builtInEntries,
  type InstallableIntegration,
  integrationIdOf,
  isBuiltIn,
  storedIdOf,
} from './built-in.js'
export {
  changesOf,
  type InstallationChange,
  type InstallationPatches,
  integrationsIn,
  newChatInstallation,
} from './changes.js'
export {
  deleteInstallation,
  deleteInstallations,
  findInstallation,
  findInstallationByWebhook,
  findInstalledBot,
  type InstallationKey,
  type InstallationListRow,
  type InstallationRow,
  type InstallationStateRow,
  insertInstallation,
  installationsIn,
  isWaiting,
  listInstallationStates,
  listInstallations,
  listInstallationsOf,
  listInstalledBots,
  listInstalledRows,
  listRegistrationStatuses,
  moveInstallations,
  pageInstallationsOf,
  patchInstallation,
  settleRegistration,
} from './store.js'
