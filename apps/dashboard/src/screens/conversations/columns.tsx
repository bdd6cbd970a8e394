import { Id } from '../../ui/copy.js'
import type { Column } from '../../ui/data-table.js'
import { formatNumber } from '../../ui/numbers.js'
import { nameOfUser, Person } from '../../ui/person.js'
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
    { id: 'who', header: 'Who', cell: (row) => <People conversation={row} /> },
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
  const users = usersOf(participants)
  if (users.length === 0) return 'No user yet'
  return users.map(nameOfUser).join(', ') + (hasMoreParticipants ? ' and others' : '')
}

/** The participants besides the bot; the initial of one stands before its name. */
function People({ conversation }: { conversation: ConversationSummary }) {
  const [user, ...others] = usersOf(conversation.participants)
  const isOne = others.length === 0 && !conversation.hasMoreParticipants
  return user !== undefined && isOne ? <Person user={user} /> : describePeople(conversation)
}

function usersOf(participants: ConversationSummary['participants']) {
  return participants.filter(({ role }) => role === 'user')
}

function describeMessage({
  author,
  text,
  type,
}: NonNullable<ConversationSummary['lastMessage']>): string {
  const content = text === '' ? `(${type})` : text
  return author.role === 'bot' ? `Bot: ${content}` : content
}
