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
  type InstallationRow,
  insertInstallation,
  installationsIn,
  listInstallations,
  listInstalledBots,
  listRegistrationStatuses,
  patchInstallation,
  settleRegistration,
} from './store.js'
