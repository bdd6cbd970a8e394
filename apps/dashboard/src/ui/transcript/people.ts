import type { TimelineEntry } from '../../api/timeline-window.js'

type Person = Extract<TimelineEntry, { kind: 'message' }>['author']

/** What a person is called: the bot is called that, and a user without a name by its id. */
export function nameOfPerson({ id, role, name }: Person): string {
  return role === 'bot' ? 'Bot' : (name ?? id)
}
