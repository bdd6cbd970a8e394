import { Link } from '@tanstack/react-router'
import type { Column } from '../../ui/data-table.js'
import { Level } from '../../ui/level.js'
import { Time } from '../../ui/time.js'
import type { LogLine } from './queries.js'

const sources = { bot: 'Bot', delivery: 'Delivery', integration: 'Integration' } as const

/** Names the log that has a line. */
export function describeSource({ source, integrationAlias }: LogLine): string {
  return integrationAlias === undefined
    ? sources[source]
    : `${sources[source]} to ${integrationAlias}`
}

/** The columns of the list. */
export function columnsOf(
  nameOf: (botId: string) => string,
  pathTo: (...segments: string[]) => string,
  isEveryBot: boolean,
): Column<LogLine>[] {
  return [
    { id: 'time', header: 'Time', cell: ({ timestamp }) => <Time at={timestamp} /> },
    {
      id: 'exact',
      header: 'Exact time',
      isOptional: true,
      cell: ({ timestamp }) => <code>{timestamp}</code>,
    },
    { id: 'level', header: 'Level', cell: ({ level }) => <Level level={level} /> },
    { id: 'message', header: 'Message', width: '60%', cell: ({ message }) => message },
    {
      id: 'bot',
      header: 'Bot',
      isOptional: !isEveryBot,
      cell: ({ botId }) => (botId === undefined ? '' : nameOf(botId)),
    },
    { id: 'source', header: 'Log', cell: describeSource },
    {
      id: 'conversation',
      header: 'Conversation',
      cell: ({ conversationId }) =>
        conversationId !== undefined && (
          <Link to={pathTo('conversations', conversationId)}>Open</Link>
        ),
    },
  ]
}
