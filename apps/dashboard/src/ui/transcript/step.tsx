import { toText } from '@botstead/chat-view'
import {
  Braces,
  CalendarClock,
  ChevronRight,
  Database,
  ListTree,
  MessageSquare,
  Pencil,
  ScrollText,
  Trash2,
  UserMinus,
  UserPlus,
  Zap,
} from 'lucide-react'
import type { ReactNode } from 'react'
import type { TimelineEntry } from '../../api/timeline-window.js'
import { Json } from '../json.js'
import { LevelWord } from '../level.js'
import { WorkflowStatus } from '../workflow-status.js'
import { nameOfPerson } from './people.js'
import styles from './transcript.module.css'

interface StepFacts {
  Icon: typeof Zap
  title: ReactNode
  /** Its content, shown when it is opened. */
  details?: unknown
}

/** Characters of a message in its line. */
const maxShown = 200

/** An event in one line that opens to its content. */
export function Step({ entry, children }: { entry: TimelineEntry; children: ReactNode }) {
  const { Icon, title, details } = factsOf(entry)
  const line = (
    <>
      {details !== undefined && (
        <ChevronRight size={14} aria-hidden="true" className={styles.chevron} />
      )}
      <Icon size={14} aria-hidden="true" />
      <span className={styles.stepTitle}>{title}</span>
      {children}
    </>
  )
  if (details === undefined) return <div className={styles.stepLine}>{line}</div>
  return (
    <details>
      <summary className={styles.stepLine}>{line}</summary>
      <Json value={details} label="Content" />
    </details>
  )
}

function factsOf(entry: TimelineEntry): StepFacts {
  switch (entry.kind) {
    case 'message': {
      const { type, payload } = entry.message
      const text = payload.text ?? payload.markdown ?? `(${type})`
      return {
        Icon: MessageSquare,
        title: `${nameOfPerson(entry.author)}: ${toText(text).slice(0, maxShown)}`,
        details: entry.message,
      }
    }
    case 'deletion': {
      const who = entry.author === undefined ? 'A message was deleted' : 'deleted a message'
      const name = entry.author && nameOfPerson(entry.author)
      return { Icon: Trash2, title: name === undefined ? who : `${name} ${who}` }
    }
    case 'participant': {
      const isAdded = entry.change === 'added'
      return {
        Icon: isAdded ? UserPlus : UserMinus,
        title: `${nameOfPerson(entry.participant)} was ${isAdded ? 'added' : 'removed'}`,
      }
    }
    case 'customEvent':
      return {
        Icon: Zap,
        title: `${nameOfPerson(entry.author)} sent a custom event`,
        details: entry.payload,
      }
    case 'event':
      return {
        Icon: entry.event.status === 'scheduled' ? CalendarClock : Zap,
        title: `Event ${entry.event.type}`,
        details: entry.event.payload,
      }
    case 'workflow':
      return {
        Icon: ListTree,
        title: (
          <>
            Workflow {entry.workflow.name} <WorkflowStatus status={entry.workflow.status} />
          </>
        ),
        details: entry.workflow,
      }
    case 'state':
      return {
        Icon: Database,
        title: `State ${entry.state.name} was set`,
        details: entry.state.payload,
      }
    case 'change':
      return {
        Icon: Pencil,
        title: 'The conversation was changed',
        details: { before: entry.before, after: entry.after },
      }
    case 'log':
      return {
        Icon: ScrollText,
        title: (
          <>
            <LevelWord level={entry.log.level} /> {entry.log.message}
          </>
        ),
      }
    default:
      // Newer servers may have other kinds.
      return { Icon: Braces, title: 'Something else happened', details: entry }
  }
}
