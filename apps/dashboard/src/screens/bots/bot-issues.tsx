import { useState } from 'react'
import { Button } from '../../ui/button.js'
import { Fold } from '../../ui/fold.js'
import { Name } from '../../ui/name.js'
import { formatNumber } from '../../ui/numbers.js'
import { Pane, Part } from '../../ui/part.js'
import { ShowMore } from '../../ui/show-more.js'
import { Unread } from '../../ui/states.js'
import { Time } from '../../ui/time.js'
import { note, noteFailure } from '../../ui/toasts.js'
import styles from './bot-issues.module.css'
import { type BotIssue, useBotIssues, useIssueActions, useIssueEvents } from './queries.js'

const categories: Record<BotIssue['category'], string> = {
  user_code: 'Error of the code',
  limits: 'Limit exceeded',
  configuration: 'Configuration',
  other: 'Other',
}

/** Problems of the code of a bot, each once with its events. */
export function BotIssues({ botId }: { botId: string }) {
  const { query, issues } = useBotIssues(botId)
  return (
    <Pane>
      <Part
        title="Issues"
        hint="Problems of code that runs here: errors that it does not handle, ends by itself, exceeded limits, and what it reports."
      >
        {query.data === undefined && <Unread error={query.error} refetch={query.refetch} />}
        {query.data !== undefined && issues.length === 0 && (
          <p className="muted">Nothing went wrong.</p>
        )}
        <ul className={styles.issues}>
          {issues.map((issue) => (
            <Issue key={issue.id} botId={botId} issue={issue} />
          ))}
        </ul>
        <ShowMore query={query} />
      </Part>
    </Pane>
  )
}

function Issue({ botId, issue }: { botId: string; issue: BotIssue }) {
  const { remove } = useIssueActions(botId)
  const [isGoing, setIsGoing] = useState(false)
  const times = issue.eventsCount === 1 ? 'once' : `${formatNumber(issue.eventsCount)} times`
  return (
    <li>
      <div className={styles.head}>
        <div>
          <strong>
            <Name>{issue.title}</Name>
          </strong>
          <div className="muted">
            {categories[issue.category]}, {times}, last <Time at={issue.lastSeenAt} />
          </div>
        </div>
        <Button
          kind="danger"
          aria-label={`Delete the issue ${issue.title}`}
          onClick={() => {
            setIsGoing(true)
            remove(issue.id).then(
              () => note('The issue is deleted.'),
              (error: unknown) => {
                setIsGoing(false)
                noteFailure(error)
              },
            )
          }}
        >
          Delete
        </Button>
      </div>
      <Fold title="Description and events">
        <div className={styles.events}>
          <pre className={styles.value}>{issue.description}</pre>
          <div className="muted">
            <code>{issue.code}</code>, first <Time at={issue.createdAt} />
          </div>
          {/* They are read again and again, and end before the issue does. */}
          {!isGoing && <Events botId={botId} issueId={issue.id} />}
        </div>
      </Fold>
    </li>
  )
}

function Events({ botId, issueId }: { botId: string; issueId: string }) {
  const { data, error, refetch } = useIssueEvents(botId, issueId)
  if (data === undefined) return <Unread error={error} refetch={refetch} lines={2} />
  return data.issueEvents.map(({ id, createdAt, data: values }) => (
    <div key={id}>
      <Time at={createdAt} />
      <dl>
        {Object.entries(values).map(([name, { raw, pretty }]) => (
          <div key={name}>
            <dt className="muted">{name}</dt>
            <dd className={styles.value}>{pretty ?? raw}</dd>
          </div>
        ))}
      </dl>
    </div>
  ))
}
