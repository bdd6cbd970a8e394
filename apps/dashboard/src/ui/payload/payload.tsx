import {
  type Content,
  isFilled,
  Markdown,
  type MarkdownElements,
  type Payload as MessagePayload,
  readContent,
} from '@botstead/chat-view'
import { ChevronDown, MapPin } from 'lucide-react'
import { Json } from '../json.js'
import markdown from '../markdown.module.css'
import { OutsideLink } from '../outside-link.js'
import { ScrollBox } from '../scroll-box.js'
import { Card } from './card.js'
import { Media } from './media.js'
import { type Choose, Options } from './options.js'
import styles from './payload.module.css'

interface PayloadProps {
  /** As the interface has it; members may be missing or of any type, because bots may send anything. */
  payload: MessagePayload
  /** Buttons can be pressed if given; otherwise they only look like buttons. */
  onChoose?: Choose | undefined
}

/** A message as the person saw it, by its type; JSON for types that only the bot knows. */
export function Payload({ payload, onChoose }: PayloadProps) {
  return <ContentView content={readContent(payload)} onChoose={onChoose} />
}

interface ContentProps {
  content: Content
  onChoose: Choose | undefined
}

function ContentView({ content, onChoose }: ContentProps) {
  return <div className={styles.payload}>{toElement(content, onChoose)}</div>
}

function toElement(content: Content, onChoose: Choose | undefined) {
  switch (content.kind) {
    case 'markdown':
      return <Text text={content.text} />
    case 'media':
      return <Media {...content} />
    case 'location':
      return <Location {...content} />
    case 'card':
      return <Card card={content} onChoose={onChoose} />
    case 'carousel':
      return (
        <ScrollBox label="Carousel" className={styles.carousel}>
          {content.cards.map((card, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: cards never move
            <Card key={index} card={card} onChoose={onChoose} />
          ))}
        </ScrollBox>
      )
    case 'options': {
      const { isDropdown, text, options } = content
      const list = <Options options={options} onChoose={onChoose} />
      return (
        <>
          {text !== undefined && <Text text={text} />}
          {isDropdown ? (
            <details className={styles.dropdown}>
              <summary>
                <ChevronDown size={14} aria-hidden="true" /> {options.length} options
              </summary>
              {list}
            </details>
          ) : (
            list
          )}
        </>
      )
    }
    case 'bloc':
      return content.parts.map((part, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: parts never move
        <ContentView key={index} content={part} onChoose={onChoose} />
      ))
    case 'unknown':
      return <Json value={content.payload} label={`Content (${content.payload.type})`} />
    default:
      return content satisfies never
  }
}

/** Images are links: nothing is loaded from elsewhere. */
const elements: MarkdownElements = {
  Link: OutsideLink,
  Image: ({ url, text }) => (
    <OutsideLink url={url}>Image{isFilled(text) ? `: ${text}` : ''}</OutsideLink>
  ),
}

function Text({ text }: { text: string }) {
  return (
    <div className={markdown.markdown}>
      <Markdown text={text} elements={elements} />
    </div>
  )
}

function Location({ title, address, position }: Extract<Content, { kind: 'location' }>) {
  return (
    <div className={styles.location}>
      <MapPin size={16} aria-hidden="true" />
      <div>
        {title !== undefined && <strong>{title}</strong>}
        {address !== undefined && <div>{address}</div>}
        {position !== undefined && (
          <OutsideLink url={`geo:${position.latitude},${position.longitude}`}>
            {position.latitude}, {position.longitude}
          </OutsideLink>
        )}
      </div>
    </div>
  )
}
