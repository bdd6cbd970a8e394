import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { usePathTo } from '../../api/address.js'
import { useBotNames } from '../../api/bot-names.js'
import { Id } from '../../ui/copy.js'
import { Fold } from '../../ui/fold.js'
import { Json } from '../../ui/json.js'
import { Name } from '../../ui/name.js'
import { formatNumber } from '../../ui/numbers.js'
import { Facts } from '../../ui/page.js'
import { Media } from '../../ui/payload/media.js'
import { Person } from '../../ui/person.js'
import { ShowMore } from '../../ui/show-more.js'
import { ErrorPanel, Unread } from '../../ui/states.js'
import { Status } from '../../ui/status.js'
import { describeTags } from '../../ui/tags.js'
import { Time } from '../../ui/time.js'
import styles from './conversations.module.css'
import {
  type ConversationSummary,
  useConversationsOf,
  useParticipants,
  useSentFiles,
  useStates,
} from './queries.js'

/** The participants of a conversation, and its stored properties. */
export function About({ conversation }: { conversation: ConversationSummary }) {
  const { id, botId, integration, channel, messageCount, createdAt, lastActivityAt } = conversation
  const { nameOf } = useBotNames()
  const pathTo = usePathTo()
  const { query, users } = useParticipants(conversation)
  return (
    <aside className={styles.about} aria-label="About the conversation">
      <Facts
        facts={[
          ['Id', <Id key="id" id={id} what="id of the conversation" />],
          [
            'Bot',
            <Link key="bot" to={pathTo('bots', botId)}>
              <Name>{nameOf(botId)}</Name>
            </Link>,
          ],
          ['Channel', `${integration} / ${channel}`],
          ['Messages', formatNumber(messageCount)],
          ['Last active', <Time key="active" at={lastActivityAt} />],
          ['Created', <Time key="created" at={createdAt} />],
          ...factsOf(conversation.tags),
          ...factsOf(conversation.properties ?? {}),
        ]}
      />
      <section className={styles.part}>
        <h3>Users</h3>
        {query.error !== null && <ErrorPanel error={query.error} />}
        {query.data !== undefined && users.length === 0 && <p className="muted">None yet.</p>}
        <ul className={styles.items}>
          {users.map((user) => (
            <li key={user.id}>
              <div>
                <strong>
                  <Person user={user} />
                </strong>{' '}
                {user.banned === true && <Status kind="off">Banned</Status>}
              </div>
              <Id id={user.id} what="id of the user" />
              <Values values={{ ...user.tags, ...user.properties }} />
              <Fold title="Other conversations">
                <OtherConversations botId={botId} userId={user.id} id={id} />
              </Fold>
            </li>
          ))}
        </ul>
        <ShowMore query={query} />
      </section>
      <section className={styles.part}>
        <Fold title="States">
          <States id={id} />
        </Fold>
        <Fold title="Files they sent">
          <SentFiles id={id} />
        </Fold>
      </section>
    </aside>
  )
}

/** Tags and properties as facts. */
function factsOf(values: Record<string, string>): [name: string, value: ReactNode][] {
  return Object.entries(values)
}

function Values({ values }: { values: Record<string, string> }) {
  const text = describeTags(values)
  return text === '' ? null : <div className="muted">{text}</div>
}

/** The states of a conversation. */
function States({ id }: { id: string }) {
  const { query, states } = useStates(id)
  if (query.data === undefined) return <Unread {...query} lines={1} />
  if (states.length === 0) return <p className="muted">None is set.</p>
  return (
    <>
      <ul className={styles.items}>
        {states.map(({ id: stateId, name, payload, updatedAt }) => (
          <li key={stateId}>
            <div className="muted">
              Set <Time at={updatedAt} />
            </div>
            <Json value={payload} label={name} />
          </li>
        ))}
      </ul>
      <ShowMore query={query} />
    </>
  )
}

/** The files in the messages of the users, the newest first. */
function SentFiles({ id }: { id: string }) {
  const { query, files } = useSentFiles(id)
  if (query.data === undefined) return <Unread {...query} lines={1} />
  if (files.length === 0 && !query.hasNextPage) return <p className="muted">None.</p>
  return (
    <>
      {files.length === 0 && <p className="muted">None in the newest messages.</p>}
      <ul className={styles.items}>
        {files.map(({ key, media, url, title, at }) => (
          <li key={key}>
            <Media media={media} url={url} title={title} />
            <span className="muted">
              <Time at={at} />
            </span>
          </li>
        ))}
      </ul>
      <ShowMore query={query} />
    </>
  )
}

/** The other conversations of a user with this bot. */
function OtherConversations({ botId, userId, id }: { botId: string; userId: string; id: string }) {
  const pathTo = usePathTo()
  const query = useConversationsOf(botId, userId)
  if (query.data === undefined) return <Unread {...query} lines={1} />
  const others = query.data.conversations.filter((one) => one.id !== id)
  if (others.length === 0) return <p className="muted">None.</p>
  return (
    <>
      <ul className={styles.items}>
        {others.map(({ id: otherId, lastMessage, lastActivityAt }) => (
          <li key={otherId}>
            <Link to={pathTo('conversations', otherId)}>
              {lastMessage?.text || lastMessage?.type || 'Without messages'}
            </Link>{' '}
            <span className="muted">
              <Time at={lastActivityAt} />
            </span>
          </li>
        ))}
      </ul>
      <Link to={pathTo('conversations')} search={{ user: userId }}>
        All of this user
      </Link>
    </>
  )
}
