import { useId, useState } from 'react'
import { nameOfUser } from '../../ui/person.js'
import { WriteBox } from '../../ui/write-box.js'
import { describePeople } from './columns.js'
import styles from './conversations.module.css'
import { type ConversationSummary, useConversationActions, useParticipants } from './queries.js'

interface ComposerProps {
  conversation: ConversationSummary
  onWritten: () => Promise<unknown>
}

/** The choice that loads more users. */
const more = 'more'

/** Unsent texts by conversation, so that nothing is lost when a reader looks elsewhere. */
const drafts = new Map<string, string>()

/** Writes into the conversation as the bot or as one of its users. */
export function Composer({ conversation, onWritten }: ComposerProps) {
  const { id, botId, integration } = conversation
  const { query, users } = useParticipants({ id, botId })
  const { write } = useConversationActions(botId)
  const [userId, setUserId] = useState<string>()
  const [text, setText] = useState(drafts.get(id) ?? '')
  const fieldId = useId()
  const user = users.find((one) => one.id === userId)
  const author =
    user === undefined
      ? ({ role: 'bot' } as const)
      : ({ role: 'user', userId: user.id, integration } as const)
  return (
    <div className={styles.composer} data-role={author.role}>
      <div className={styles.composerLine}>
        <label htmlFor={fieldId}>Write as</label>
        <select
          id={fieldId}
          value={user?.id ?? ''}
          onChange={({ target }) =>
            target.value === more ? void query.fetchNextPage() : setUserId(target.value)
          }
        >
          <option value="">the bot</option>
          {users.map((one) => (
            <option key={one.id} value={one.id}>
              {nameOfUser(one)}
            </option>
          ))}
          {query.hasNextPage && <option value={more}>List more users …</option>}
        </select>
        <span className={`muted ${styles.hint}`} id={`${fieldId}-hint`}>
          {user === undefined
            ? `The message goes to the people: ${describePeople(conversation)}.`
            : 'The message goes to the bot, which answers it as any other.'}
        </span>
      </div>
      <WriteBox
        placeholder={user === undefined ? 'Write as the bot' : `Write as ${nameOfUser(user)}`}
        submit={user === undefined ? 'Send as the bot' : 'Send as the user'}
        describedBy={`${fieldId}-hint`}
        text={text}
        change={(next) => {
          drafts.set(id, next)
          setText(next)
        }}
        send={async (written) => {
          await write(id, author, written)
          await onWritten()
        }}
      />
    </div>
  )
}
