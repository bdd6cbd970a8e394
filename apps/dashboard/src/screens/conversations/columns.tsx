import { Id } from '../../ui/copy.js'
import type { Column } from '../../ui/data-table.js'
import { formatNumber } from '../../ui/numbers.js'
import { Status } from '../../ui/status.js'
import { describeTags } from '../../ui/tags.js'
import { Time } from '../../ui/time.js'
import type { ConversationSummary } from './queries.js'

/** The columns of the list. */
export function columnsOf(
  nameOf: (botId: string) => string,
  isEveryBot: boolean,
): Column<ConversationSummary>[] {
  return [
    { id: 'who', header: 'Who', cell: (row) => describePeople(row) },
    {
      id: 'last',
      header: 'Last message',
      cell: ({ lastMessage }) => lastMessage && describeMessage(lastMessage),
    },
    {
      id: 'state',
      header: 'Deliveries',
      cell: ({ hasFailedDelivery, hasPendingDelivery }) =>
        hasFailedDelivery ? (
          <Status kind="attention">Failed</Status>
        ) : hasPendingDelivery ? (
          <Status kind="waiting">Waiting</Status>
        ) : null,
    },
    { id: 'active', header: 'Last active', cell: (row) => <Time at={row.lastActivityAt} /> },
    {
      id: 'count',
      header: 'Messages',
      isNumeric: true,
      cell: ({ messageCount }) => formatNumber(messageCount),
    },
    {
      id: 'bot',
      header: 'Bot',
      isOptional: !isEveryBot,
      cell: ({ botId }) => nameOf(botId),
    },
    {
      id: 'channel',
      header: 'Channel',
      isOptional: true,
      cell: ({ integration, channel }) => `${integration} / ${channel}`,
    },
    {
      id: 'tags',
      header: 'Tags',
      isOptional: true,
      cell: ({ tags }) => describeTags(tags),
    },
    {
      id: 'id',
      header: 'Id',
      isOptional: true,
      cell: ({ id }) => <Id id={id} what="id of the conversation" />,
    },
    {
      id: 'created',
      header: 'Created',
      isOptional: true,
      cell: ({ createdAt }) => <Time at={createdAt} />,
    },
  ]
}

/** Names the participants besides the bot. */
export function describePeople({
  participants,
  hasMoreParticipants,
}: Pick<ConversationSummary, 'participants' | 'hasMoreParticipants'>): string {
  const users = participants.filter(({ role }) => role === 'user')
  if (users.length === 0) return 'No user yet'
  const names = users.map(({ id, name }) => name ?? id)
  return names.join(', ') + (hasMoreParticipants ? ' and others' : '')
}

function describeMessage({
  author,
  text,
  type,
}: NonNullable<ConversationSummary['lastMessage']>): string {
  const content = text === '' ? `(${type})` : text
  return author.role === 'bot' ? `Bot: ${content}` : content
}
