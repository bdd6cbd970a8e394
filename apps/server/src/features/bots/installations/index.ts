// Installations: the rows, the rules for changing them, and the chat that every bot has.
export { setAccount, statusReasonOf } from './account.js'
export { findInstallationOfAccount, listInstallationsOfAccount } from './account-store.js'
export {
  blocParts,
  builtInChat,
  chatShapes,
  chatVersions,
  shownIdOf,
  storedIdOf,
} from './built-in-chat.js'
export {
  builtInEntries,
  changesOf,
  type InstallableIntegration,
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
  pageInstallationsOf,
  patchInstallation,
  settleRegistration,
} from './store.js'
