import { type ReactNode, useState } from 'react'
import { Announcer } from './announcer.js'
import { Composer } from './composer.js'
import { useChat, useChatState, useWords } from './context.js'
import { History } from './history.js'
import { Icon } from './icon.js'
import { safeMedia } from './links.js'
import { Markdown } from './markdown.js'
import { MessageList } from './message-list.js'
import { OutsideLink } from './outside-link.js'
import { isFilled, type Members } from './payload-values.js'
import { Status } from './status.js'

/** The whole chat: its head, what was said, and the field for messages. */
export function Panel() {
  const words = useWords()
  const { session, place, close } = useChat()
  const { isOpen, configuration } = useChatState()
  const [showsHistory, setShowsHistory] = useState(false)
  const { botName = '', botAvatar, footer, conversationHistory } = configuration
  const avatar = safeMedia(botAvatar)
  const leave = () => setShowsHistory(false)

  const head = (
    <div className="head">
      {avatar !== undefined && <img src={avatar} alt="" referrerPolicy="no-referrer" />}
      {place === 'page' ? <h1>{botName}</h1> : <h2>{botName}</h2>}
      {conversationHistory === true && (
        <Tool
          icon={showsHistory ? 'back' : 'history'}
          label={showsHistory ? words.back : words.history}
          onPress={() => setShowsHistory(!showsHistory)}
        />
      )}
      <Tool
        icon="restart"
        label={words.restart}
        onPress={() => {
          leave()
          session.restart()
        }}
      />
      {place !== 'page' && <Tool icon="close" label={words.close} onPress={close} />}
    </div>
  )
  return (
    <Frame
      onEscape={() => {
        if (showsHistory) leave()
        else if (place === 'corner') close()
      }}
    >
      {head}
      <Status />
      <Announcer />
      {showsHistory && <History onDone={leave} />}
      <div className="talk" hidden={showsHistory}>
        <MessageList />
        <Composer isShown={isOpen && !showsHistory} />
        <Contacts />
        {isFilled(footer) && (
          <div className="footer">
            <Markdown text={footer} />
          </div>
        )}
      </div>
    </Frame>
  )
}

/** A dialog in the corner that leaves the page as usable as it was; elsewhere a part of the page. */
function Frame({ onEscape, children }: { onEscape(): void; children: ReactNode }) {
  const { place } = useChat()
  const { isOpen, configuration } = useChatState()
  const role = { corner: 'dialog', element: 'region', page: 'main' }[place]
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: its role depends on where it is
    // biome-ignore lint/a11y/useAriaPropsSupportedByRole: all of its roles have names
    <div
      className={`chat ${place}`}
      role={role}
      aria-label={configuration.botName}
      hidden={!isOpen}
      onKeyDown={(event) => {
        if (event.key === 'Escape' && !event.nativeEvent.isComposing) onEscape()
      }}
    >
      {children}
    </div>
  )
}

function Tool({
  icon,
  label,
  onPress,
}: {
  icon: 'close' | 'restart' | 'history' | 'back'
  label: string
  onPress(): void
}) {
  return (
    <button type="button" className="tool" aria-label={label} title={label} onClick={onPress}>
      <Icon name={icon} />
    </button>
  )
}

/** Links that pages set besides: whom else to ask, and what applies. */
function Contacts() {
  const { configuration } = useChatState()
  const { email, phone, website, termsOfService, privacyPolicy } = configuration
  const links = [email, phone, website, termsOfService, privacyPolicy].flatMap((given) => {
    const { title, link }: Members = Object(given)
    return isFilled(link) || isFilled(title) ? [{ title, link }] : []
  })
  if (links.length === 0) return null
  return (
    <ul className="contacts">
      {links.map(({ title, link }) => (
        <li key={`${title} ${link}`}>
          <OutsideLink url={link}>{String(title ?? link)}</OutsideLink>
        </li>
      ))}
    </ul>
  )
}
