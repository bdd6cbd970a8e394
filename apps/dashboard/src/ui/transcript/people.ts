import type { TimelineEntry } from '../../api/timeline-window.js'

type Person = Extract<TimelineEntry, { kind: 'message' }>['author']

/** The display name of a participant: `Bot` for the bot, and the id of a user without a name. */
export function nameOfPerson({ id, role, name }: Person): string {
  return role === 'bot' ? 'Bot' : (name ?? id)
}
