import { type Content, readContent } from '@botstead/chat-view'
import type { Payload } from '../shared/bridge.js'
import { Card, Carousel } from './cards.js'
import { useTranslation } from './context.js'
import { ErrorBoundary } from './error-boundary.js'
import { Icon } from './icon.js'
import { Markdown } from './markdown.js'
import { Media } from './media.js'
import { Choice, type Choose, Dropdown } from './options.js'
import { OutsideLink } from './outside-link.js'

export interface PayloadProps {
  payload: Payload
  /** Label of the chosen option; undefined while the options can be pressed. */
  answer?: string | undefined
  onChoose: Choose
}

/** A message by its type. Bots may send anything: an incomplete payload or an unknown type is shown as text. */
export function PayloadView({ payload, ...props }: PayloadProps) {
  const content = readContent(payload)
  return (
    <ErrorBoundary fallback={<Unknown text={undefined} />}>
      <ContentView {...props} content={content} />
    </ErrorBoundary>
  )
}

type ContentProps = Omit<PayloadProps, 'payload'> & { content: Content }

function ContentView({ content, answer, onChoose }: ContentProps) {
  switch (content.kind) {
    case 'markdown':
      return <Markdown text={content.text} />
    case 'media':
      return <Media {...content} />
    case 'location':
      return <Location {...content} />
    case 'card':
      return <Card card={content} onChoose={onChoose} />
    case 'carousel':
      return <Carousel cards={content.cards} onChoose={onChoose} />
    case 'options': {
      const { isDropdown, text, options } = content
      const Options = isDropdown ? Dropdown : Choice
      return (
        <>
          {text !== undefined && <Markdown text={text} />}
          <Options label={text ?? ''} options={options} answer={answer} onChoose={onChoose} />
        </>
      )
    }
    case 'bloc':
      return content.parts.map((part, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: parts never move
        <div key={index} className="part">
          <ContentView content={part} answer={answer} onChoose={onChoose} />
        </div>
      ))
    case 'unknown':
      return <Unknown text={content.text} />
    default:
      return content satisfies never
  }
}

function Unknown({ text }: { text: string | undefined }) {
  const texts = useTranslation()
  return text === undefined ? <em>{texts.unknown}</em> : <Markdown text={text} />
}

function Location({ title, address, position }: Extract<Content, { kind: 'location' }>) {
  const texts = useTranslation()
  const { latitude, longitude } = position ?? {}
  const url = `https://www.openstreetmap.org/?mlat=${latitude}&mlon=${longitude}#map=16/${latitude}/${longitude}`
  return (
    <div className="location">
      <Icon name="map" />
      <div>
        {title !== undefined && <div>{title}</div>}
        {address !== undefined && <div>{address}</div>}
        {position !== undefined && <OutsideLink url={url}>{texts.map}</OutsideLink>}
      </div>
    </div>
  )
}
