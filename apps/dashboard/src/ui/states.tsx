import { ApiError } from '@botstead/contract'
import { messageForPeople } from '@botstead/contract/error-text'
import { type ReactNode, useEffect, useState } from 'react'
import { ConnectionError, isForbidden, isSignedOut, serverUrl } from '../api/client.js'
import { Button } from './button.js'
import { CopyButton, Id } from './copy.js'
import styles from './states.module.css'

/** A placeholder of some lines; invisible at first, because most things load at once. */
export function Skeleton({ lines = 5 }: { lines?: number }) {
  const [isLate, setLate] = useState(false)
  useEffect(() => {
    const timer = setTimeout(() => setLate(true), 200)
    return () => clearTimeout(timer)
  }, [])
  if (!isLate) return null
  return (
    <div role="status" className={styles.skeleton}>
      <span className="visually-hidden">Loading</span>
      {Array.from({ length: lines }, (_, line) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: lines of a placeholder are alike
        <div key={line} className={styles.line} />
      ))}
    </div>
  )
}

/** An error with advice, and the id to look for in the log of the server. */
interface ErrorPanelProps {
  error: unknown
  retry?: () => void
  /** What failed was to do something; otherwise to see something. */
  isAct?: boolean
}

export function ErrorPanel({ error, retry, isAct = false }: ErrorPanelProps) {
  const { title, text } = explain(error, isAct)
  const id = error instanceof ApiError ? error.id : undefined
  return (
    <div role="alert" className={styles.error}>
      <h2>{title}</h2>
      <p>{text}</p>
      {id !== undefined && (
        <p>
          Id for the log of the server: <Id id={id} what="id of the error" />
        </p>
      )}
      {retry !== undefined && <Button onClick={retry}>Try again</Button>}
    </div>
  )
}

interface UnreadProps {
  error: unknown
  refetch: () => unknown
  /** Lines of the placeholder. */
  lines?: number
}

/** The display of a query without data: it is loading, or it has failed. */
export function Unread({ error, refetch, lines }: UnreadProps) {
  if (error === null) return <Skeleton {...(lines !== undefined && { lines })} />
  return <ErrorPanel error={error} retry={() => void refetch()} />
}

function explain(error: unknown, isAct: boolean): { title: string; text: string } {
  if (isSignedOut(error)) {
    return { title: 'You are signed out', text: 'Sign in again; nothing that you typed is lost.' }
  }
  if (isForbidden(error)) {
    return {
      title: isAct ? 'This is not permitted' : 'You may not see this',
      text: messageOf(error),
    }
  }
  if (error instanceof ApiError) {
    return {
      title: error.status >= 500 ? 'The server failed' : 'This did not work',
      text: messageOf(error),
    }
  }
  if (!(error instanceof ConnectionError)) {
    return { title: 'This did not work', text: messageOf(error) }
  }
  return {
    title: 'The server cannot be reached',
    text: `Check whether it runs at ${serverUrl}; this page tries again by itself. (${messageOf(error)})`,
  }
}

/** The text of an error for people. */
export function messageOf(error: unknown): string {
  if (error instanceof ApiError) return messageForPeople(error.message)
  return error instanceof Error ? error.message : String(error)
}

/** A call that fills what is empty, ready to paste. */
interface ExampleCall {
  /** Of the tool, such as `curl`. */
  name: string
  text: string
}

interface EmptyProps {
  /** One sentence: what would be here. */
  children: ReactNode
  calls?: readonly ExampleCall[]
  /** A button that does it here. */
  action?: ReactNode
}

/** Nothing is here yet: says what would be, and the call that makes it. */
export function Empty({ children, calls = [], action }: EmptyProps) {
  return (
    <div className={styles.empty}>
      <p>{children}</p>
      {action}
      {calls.map(({ name, text }) => (
        <figure key={name} className={styles.call}>
          <figcaption>
            {name} <CopyButton text={text} what={`the call with ${name}`} />
          </figcaption>
          <pre>{text}</pre>
        </figure>
      ))}
    </div>
  )
}
