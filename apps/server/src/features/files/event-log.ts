/** What the log says about the files of a bot. */
export type FileEvent = (typeof fileEvents)[number]

export const fileEvents = [
  'file_created',
  'file_updated',
  'file_upload_completed',
  'file_upload_failed',
  'file_indexing_completed',
  'file_indexing_failed',
  'file_deleted',
] as const

/** The stream of the events log that holds those of one bot. */
export function eventStream(botId: string): string {
  return `files:${botId}`
}
