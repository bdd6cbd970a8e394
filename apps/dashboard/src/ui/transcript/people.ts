import type { TimelineEntry } from '../../api/timeline-window.js'
import { nameOfUser } from '../person.js'

type Person = Extract<TimelineEntry, { kind: 'message' }>['author']

/** The display name of a participant: `Bot` for the bot. */
export function nameOfPerson(person: Person): string {
  return person.role === 'bot' ? 'Bot' : nameOfUser(person)
}
