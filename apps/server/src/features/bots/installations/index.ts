// Installations: the rows, the rules for changing them, and the chat that every bot has.
export { builtInChat, chatShapes } from './built-in-chat.js'
export {
  builtInEntry,
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
  type InstallationKey,
  type InstallationListRow,
  type InstallationRow,
  type InstallationStateRow,
  insertInstallation,
  installationsIn,
  listInstallationStates,
  listInstallations,
  listInstallationsOf,
  listInstalledBots,
  listRegistrationStatuses,
  pageInstallationsOf,
  patchInstallation,
  settleRegistration,
} from './store.js'
