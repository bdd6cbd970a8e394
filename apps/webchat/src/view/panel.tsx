import { isFilled } from '@botstead/chat-view'
import { isComposing } from '@botstead/contract/composing'
import { type ReactNode, useState } from 'react'
import { Announcer } from './announcer.js'
import { Composer } from './composer.js'
import { useChat, useChatState, useTranslation } from './context.js'
import { History } from './history.js'
import { Icon } from './icon.js'
import { safeMedia } from './links.js'
import { Markdown } from './markdown.js'
import { MessageList } from './message-list.js'
import { OutsideLink } from './outside-link.js'
import { Status } from './status.js'

/** The whole chat: header, messages, and the field for new ones. */
export function Panel() {
  const texts = useTranslation()
  const { session, layout, canClose, close } = useChat()
  const { isOpen, configuration } = useChatState()
  const [showsHistory, setShowsHistory] = useState(false)
  const { botName = '', botAvatar, footer, conversationHistory } = configuration
  const avatar = safeMedia(botAvatar)
  const closeHistory = () => setShowsHistory(false)

  const header = (
    <div className="header">
      {avatar !== undefined && <img src={avatar} alt="" referrerPolicy="no-referrer" />}
      {layout === 'page' ? <h1>{botName}</h1> : <h2>{botName}</h2>}
      {conversationHistory === true && (
        <Tool
          icon={showsHistory ? 'back' : 'history'}
          label={showsHistory ? texts.back : texts.history}
          onPress={() => setShowsHistory(!showsHistory)}
        />
      )}
      <Tool
        icon="restart"
        label={texts.restart}
        onPress={() => {
          closeHistory()
          session.restart()
        }}
      />
      {canClose && <Tool icon="close" label={texts.close} onPress={close} />}
    </div>
  )
  return (
    <Frame
      onEscape={() => {
        if (showsHistory) closeHistory()
        else if (layout === 'corner') close()
      }}
    >
      {header}
      <Status />
      <Announcer />
      {showsHistory && <History onDone={closeHistory} />}
      <div className="conversation" hidden={showsHistory}>
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

/** The element of the chat: in a corner a dialog that is not modal, otherwise a landmark of the page. */
function Frame({ onEscape, children }: { onEscape(): void; children: ReactNode }) {
  const { layout } = useChat()
  const { isOpen, configuration } = useChatState()
  const role = { corner: 'dialog', element: 'region', page: 'main' }[layout]
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: its role depends on where it is
    // biome-ignore lint/a11y/useAriaPropsSupportedByRole: all of its roles have names
    <div
      className={`chat ${layout}`}
      role={role}
      aria-label={configuration.botName}
      hidden={!isOpen}
      onKeyDown={(event) => {
        if (event.key === 'Escape' && !isComposing(event.nativeEvent)) onEscape()
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

/** Contacts and legal links of the configuration. */
function Contacts() {
  const { configuration } = useChatState()
  const { email, phone, website, termsOfService, privacyPolicy } = configuration
  const links = [email, phone, website, termsOfService, privacyPolicy].flatMap((given) => {
    const { title, link }: { title?: unknown; link?: unknown } = Object(given)
    const text = [title, link].find(isFilled)
    return text === undefined ? [] : [{ text, link }]
  })
  if (links.length === 0) return null
  return (
    <ul className="contacts">
      {links.map(({ text, link }, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: two links may have one text
        <li key={index}>
          <OutsideLink url={link}>{text}</OutsideLink>
        </li>
      ))}
    </ul>
  )
}
