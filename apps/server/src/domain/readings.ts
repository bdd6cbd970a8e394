import type { AccountActor, Origin } from './actor.js'

/** Content that a person is about to read. */
interface Reading {
  workspaceId: string
  reader: Pick<AccountActor, 'accountId' | 'tokenId' | 'authority'>
  origin: Origin
  /** The kind of content: the first part of the permission. */
  kind: string
  /** Id of the conversation, file or other thing; that of the bot or undefined for lists. */
  resourceId: string | undefined
}

/** Records that a person reads something, unless that was recorded a moment ago: then it returns undefined at once. */
export type NoteReading = (reading: Reading) => Promise<void> | undefined
