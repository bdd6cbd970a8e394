import { npm } from '../../ui/commands.js'
import { CopyButton } from '../../ui/copy.js'
import { Pane, Part } from '../../ui/part.js'
import styles from './talk-to-bot.module.css'

/** A program that talks to a bot at its chat address. */
export function TalkToBot({ chatAddress }: { chatAddress: string }) {
  const program = `import * as chat from '@botpress/chat'

const client = await chat.Client.connect({ apiUrl: '${chatAddress}' })
const { conversation } = await client.createConversation({})
const listener = await client.listenConversation({ id: conversation.id })
listener.on('message_created', ({ userId, payload }) => {
  if (userId !== client.user.id) console.log(payload)
})
await client.createMessage({
  conversationId: conversation.id,
  payload: { type: 'text', text: 'Hello' },
})`
  return (
    <Pane>
      <Part title="Talk to it from a program">
        <figure className={styles.program}>
          <figcaption>
            <code>talk.mjs</code>, after <code>{npm(['install', '@botpress/chat'])}</code>{' '}
            <CopyButton text={program} what="program" />
          </figcaption>
          <pre>{program}</pre>
        </figure>
      </Part>
    </Pane>
  )
}
