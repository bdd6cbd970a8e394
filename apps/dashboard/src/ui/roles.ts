import type { Role } from '@botstead/contract'

/** What each role may do, in a sentence: the permissions of the contract for people. */
export const roleTexts: Record<Role, string> = {
  viewer: 'Sees bots, conversations and files, and changes nothing.',
  billing: 'Sees usage and quotas alone.',
  developer: 'Builds bots: changes bots, conversations and files; sees keys, logs and deliveries.',
  manager:
    'As a developer; also deletes bots of others, limits who sees a bot, and reads the audit log.',
  administrator: 'As a manager; also changes the workspace, and invites and removes members.',
  owner: 'May do everything: also make owners, and delete the workspace.',
}
