import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { usePathTo } from '../../api/address.js'
import { CopyButton, Id } from '../../ui/copy.js'
import { Level } from '../../ui/level.js'
import { Name } from '../../ui/name.js'
import { Detail, Facts } from '../../ui/page.js'
import { Unread } from '../../ui/states.js'
import { Time } from '../../ui/time.js'
import { describeSource } from './columns.js'
import styles from './logs.module.css'
import { type LogLine, useLogLine } from './queries.js'

interface LogLineDetailProps {
  item: string
  /** The line, if the list has it. */
  known: LogLine | undefined
  nameOf: (botId: string) => string
}

/** Milliseconds before and after a line that stand around it. */
const around = 60_000

/** An open line of a log. */
export function LogLineDetail({ item, known, nameOf }: LogLineDetailProps) {
  const pathTo = usePathTo()
  const { line, error, refetch } = useLogLine(item, known)
  return (
    <Detail title="Line of a log" back={pathTo('logs')}>
      {line !== undefined ? (
        <Line line={line} nameOf={nameOf} />
      ) : (
        <Unread error={error} refetch={refetch} />
      )}
    </Detail>
  )
}

function Line({ line, nameOf }: { line: LogLine; nameOf: (botId: string) => string }) {
  const pathTo = usePathTo()
  const { message, level, timestamp, botId } = line
  const { conversationId, deliveryId, integrationId, userId, workflowId } = line
  const time = Date.parse(timestamp)
  const facts: [string, ReactNode][] = [
    ['Level', <Level key="level" level={level} />],
    ['Time', <Time key="time" at={timestamp} />],
    ['Log', describeSource(line)],
  ]
  if (botId !== undefined) {
    facts.push([
      'Bot',
      <Link key="bot" to={pathTo('bots', botId)}>
        <Name>{nameOf(botId)}</Name>
      </Link>,
    ])
  }
  const link = (name: string, id: string | undefined, screen: string) => {
    if (id === undefined) return
    facts.push([
      name,
      <span key={name} className={styles.linked}>
        <Link to={pathTo(screen, id)}>
          <code>{id}</code>
        </Link>
        <CopyButton text={id} what={`id of the ${name.toLowerCase()}`} />
      </span>,
    ])
  }
  link('Conversation', conversationId, 'conversations')
  link('Delivery', deliveryId, 'deliveries')
  link('Integration', integrationId, 'integrations')
  if (userId !== undefined) facts.push(['User', <Id key="user" id={userId} />])
  if (workflowId !== undefined) facts.push(['Workflow', <Id key="workflow" id={workflowId} />])
  facts.push(['Id', <Id key="id" id={line.id} what="id of the line" />])
  return (
    <>
      <div className={styles.message}>
        <pre>{message}</pre>
        <CopyButton text={message} what="message" />
      </div>
      <Facts facts={facts} />
      <p className={styles.more}>
        <Link
          to={pathTo('logs')}
          search={{
            since: new Date(time - around).toISOString(),
            until: new Date(time + around).toISOString(),
          }}
        >
          All lines of the minute before and after
        </Link>
        {conversationId !== undefined && (
          <Link to={pathTo('logs')} search={{ conversation: conversationId }}>
            All lines of this conversation
          </Link>
        )}
      </p>
    </>
  )
}
