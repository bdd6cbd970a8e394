import { Link, useNavigate, useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { usePathTo, useScope } from '../../api/address.js'
import { useBot } from '../../api/bot.js'
import { Button } from '../../ui/button.js'
import { ChooseBot } from '../../ui/choose-bot.js'
import { Form, TextField } from '../../ui/form.js'
import { Page } from '../../ui/page.js'
import { Panes } from '../../ui/panes.js'
import { Pane, Part } from '../../ui/part.js'
import { ErrorPanel, Unread } from '../../ui/states.js'
import { Status } from '../../ui/status.js'
import { Chat } from './chat.js'
import { guestOf, keepGuest } from './guests.js'
import { createGuest, type Guest } from './queries.js'
import { Trace } from './trace.js'

/** A chat with a bot as a new user, beside what the server does for it. */
export function TryScreen() {
  const { botId } = useScope()
  return botId === undefined ? (
    <Page title="Try it">
      <ChooseBot screen="try" what="Chats" />
    </Page>
  ) : (
    <TryBot key={botId} botId={botId} />
  )
}

function TryBot({ botId }: { botId: string }) {
  const { item }: { item?: string } = useParams({ strict: false })
  const pathTo = usePathTo()
  const navigate = useNavigate()
  const [guest, setGuest] = useState<Guest | undefined>(() => guestOf(botId))
  const isOpen = guest !== undefined && guest.conversationId === item
  const begin = (next: Guest) => {
    keepGuest(botId, next)
    setGuest(next)
    void navigate({ to: pathTo('try', next.conversationId) })
  }
  return (
    <Page
      title="Try it"
      actions={
        isOpen && (
          <>
            <Link to={pathTo('conversations', guest.conversationId)}>Open the conversation</Link>
            <Button onClick={() => void navigate({ to: pathTo('try') })}>New user</Button>
          </>
        )
      }
    >
      {isOpen ? (
        <Panes
          key={guest.conversationId}
          isEven
          main={{ id: 'chat', label: 'Chat', content: <Chat guest={guest} botId={botId} /> }}
          side={{
            id: 'trace',
            label: 'What happens',
            content: <Trace botId={botId} conversationId={guest.conversationId} />,
          }}
        />
      ) : (
        <Begin botId={botId} earlier={guest} isElsewhere={item !== undefined} onBegin={begin} />
      )}
    </Page>
  )
}

interface BeginProps {
  botId: string
  /** The guest of this tab, whose chat can go on. */
  earlier: Guest | undefined
  /** Whether the address names a chat of another tab. */
  isElsewhere: boolean
  onBegin: (guest: Guest) => void
}

function Begin({ botId, earlier, isElsewhere, onBegin }: BeginProps) {
  const pathTo = usePathTo()
  const [name, setName] = useState('')
  const { data, error, refetch } = useBot(botId)
  if (data === undefined) {
    return <Unread error={error} refetch={refetch} />
  }
  const { bot } = data
  const chat = Object.values(bot.integrations).find((one) => one.name === 'chat')
  if (chat === undefined) {
    return <ErrorPanel error={new Error('The integration chat is not installed in this bot.')} />
  }
  return (
    <Pane>
      <Part
        title={`Chat with ${bot.name || bot.id}`}
        hint="As a new user at the chat address of the bot, as a browser on your site would. Beside the chat you see what the bot receives, answers and logs."
      >
        {isElsewhere && (
          <p>The chat of this address belongs to another tab, which has the key of its user.</p>
        )}
        {bot.url === undefined && !bot.hosted && (
          <p>
            <Status kind="waiting">No address</Status> What you write waits until the bot has one.{' '}
            <Link to={pathTo('bots', bot.id)} search={{ tab: 'settings' }}>
              Set its address
            </Link>
          </p>
        )}
        {earlier !== undefined && (
          <Link to={pathTo('try', earlier.conversationId)}>Go on with the chat of this tab</Link>
        )}
        <Form
          submit="Begin"
          onSubmit={async () => onBegin(await createGuest(chat.webhookId, name.trim()))}
        >
          {(faultOf) => (
            <TextField
              label="Name of the user"
              hint="May be empty."
              maxLength={1000}
              error={faultOf('name')}
              value={name}
              onChange={(event) => setName(event.target.value)}
            />
          )}
        </Form>
      </Part>
    </Pane>
  )
}
