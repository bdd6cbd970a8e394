import { Link } from '@tanstack/react-router'
import { Braces, LinkIcon } from 'lucide-react'
import type { ReactNode } from 'react'
import type { TimelineEntry } from '../../api/timeline-window.js'
import { Button } from '../button.js'
import { Json } from '../json.js'
import { Payload } from '../payload/payload.js'
import { Person } from '../person.js'
import styles from './transcript.module.css'

type MessageEntry = Extract<TimelineEntry, { kind: 'message' }>

interface MessageProps {
  entry: MessageEntry
  /** The time at which it was written, and the time since the one before. */
  when: ReactNode
  isRaw: boolean
  toggleRaw: () => void
}

/** A message as people saw it, or as it is stored. */
export function Message({ entry, when, isRaw, toggleRaw }: MessageProps) {
  const { message, author } = entry
  return (
    <div className={`${styles.message} ${message.direction === 'outgoing' ? styles.outgoing : ''}`}>
      <div className={styles.byline}>
        <strong>{author.role === 'bot' ? 'Bot' : <Person user={author} />}</strong>
        {message.origin === 'synthetic' && <span className="muted">synthetic</span>}
        <span className="muted">{when}</span>
        <span className={styles.tools}>
          <Button
            kind="quiet"
            icon={<Braces size={14} />}
            aria-label="Raw message"
            title="Raw message"
            aria-pressed={isRaw}
            onClick={toggleRaw}
          />
          <Link
            to="."
            search={(before: object) => ({ ...before, message: entry.id })}
            className={styles.link ?? ''}
            aria-label="Link to this message"
            title="Link to this message"
          >
            <LinkIcon size={14} aria-hidden="true" />
          </Link>
        </span>
      </div>
      <div className={styles.bubble}>
        {isRaw ? (
          <Json value={message} label="Message as stored" />
        ) : (
          <Payload payload={{ ...message.payload, type: message.type }} />
        )}
      </div>
    </div>
  )
}
