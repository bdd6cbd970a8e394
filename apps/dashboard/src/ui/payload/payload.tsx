import { ChevronDown, MapPin } from 'lucide-react'
import { lazy, Suspense } from 'react'
import { Json } from '../json.js'
import { LinkedText } from '../linked-text.js'
import { OutsideLink } from '../outside-link.js'
import { ScrollBox } from '../scroll-box.js'
import { Card } from './card.js'
import { Media } from './media.js'
import { Options } from './options.js'
import styles from './payload.module.css'
import { type Choose, isFilled, type Members, mediaIn, membersOf, objectsIn } from './read.js'

const Markdown = lazy(async () => ({ default: (await import('../markdown.js')).Markdown }))

interface PayloadProps {
  type: string
  /** As the interface has it; members may be missing or of any type, because bots may send anything. */
  payload: Members
  /** Buttons can be pressed if given; otherwise they only look like what they are. */
  onChoose?: Choose | undefined
}

/** A message as the person saw it, by its type; JSON for types that only the bot knows. */
export function Payload({ type, payload, onChoose }: PayloadProps) {
  return (
    <div className={styles.payload}>
      {toContent(type, payload, onChoose) ?? <Json value={payload} label={`Content (${type})`} />}
    </div>
  )
}

/** Undefined if the payload lacks what its type needs, or the type is unknown. */
function toContent(type: string, payload: Members, onChoose: Choose | undefined) {
  const { text, markdown, title, items } = payload
  switch (type) {
    case 'text':
      return isFilled(text) ? (
        <p className={styles.text}>
          <LinkedText text={text} />
        </p>
      ) : undefined
    case 'markdown':
      return isFilled(markdown) ? (
        <Suspense fallback={<p className={styles.text}>{markdown}</p>}>
          <Markdown text={markdown} keepsLines />
        </Suspense>
      ) : undefined
    case 'image':
    case 'audio':
    case 'video':
    case 'file': {
      const [media] = mediaIn(type, payload)
      return media && <Media {...media} />
    }
    case 'location':
      return toLocation(payload)
    case 'card':
      return isFilled(title) ? <Card card={payload} onChoose={onChoose} /> : undefined
    case 'carousel':
      return Array.isArray(items) ? (
        <ScrollBox label="Carousel" className={styles.carousel}>
          {objectsIn(items).map((card, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: cards never move
            <Card key={index} card={card} onChoose={onChoose} />
          ))}
        </ScrollBox>
      ) : undefined
    case 'choice':
    case 'dropdown':
      return isFilled(text) ? (
        <>
          <p className={styles.text}>{text}</p>
          {type === 'dropdown' ? (
            <details className={styles.dropdown}>
              <summary>
                <ChevronDown size={14} aria-hidden="true" /> {objectsIn(payload.options).length}{' '}
                options
              </summary>
              <Options options={payload.options} onChoose={onChoose} />
            </details>
          ) : (
            <Options options={payload.options} onChoose={onChoose} />
          )}
        </>
      ) : undefined
    case 'bloc':
      return Array.isArray(items)
        ? objectsIn(items).map((item, index) => (
            <Payload
              // biome-ignore lint/suspicious/noArrayIndexKey: parts never move
              key={index}
              type={String(item.type)}
              payload={membersOf(item)}
              onChoose={onChoose}
            />
          ))
        : undefined
    default:
      return undefined
  }
}

function toLocation({ latitude, longitude, title, address }: Members) {
  if (typeof latitude !== 'number' || typeof longitude !== 'number') return undefined
  return (
    <div className={styles.location}>
      <MapPin size={16} aria-hidden="true" />
      <div>
        {isFilled(title) && <strong>{title}</strong>}
        {isFilled(address) && <div>{address}</div>}
        <OutsideLink url={`geo:${latitude},${longitude}`}>
          {latitude}, {longitude}
        </OutsideLink>
      </div>
    </div>
  )
}
