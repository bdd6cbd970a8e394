import type { ReactNode } from 'react'
import type { Payload } from '../shared/bridge.js'
import { Card, Carousel } from './cards.js'
import { useTranslation } from './context.js'
import { ErrorBoundary } from './error-boundary.js'
import { Icon } from './icon.js'
import { Markdown } from './markdown.js'
import { Media } from './media.js'
import { Choice, Dropdown } from './options.js'
import { OutsideLink } from './outside-link.js'
import { type Choose, isFilled, type Members, objectsIn, partsOf } from './payload-values.js'

export interface PayloadProps {
  payload: Payload
  /** Label of the chosen option; undefined while the options can be pressed. */
  answer?: string | undefined
  onChoose: Choose
}

/** Levels of blocs inside of blocs that are shown. */
const maxNesting = 3

/** A message by its type. Bots may send anything: an incomplete payload or an unknown type is shown as text. */
export function PayloadView(props: PayloadProps) {
  return (
    <ErrorBoundary fallback={<Fallback payload={props.payload} />}>
      <Content {...props} />
    </ErrorBoundary>
  )
}

function Content(props: PayloadProps) {
  return toContent(props, 0) ?? <Fallback payload={props.payload} />
}

function toContent(props: PayloadProps, depth: number): ReactNode {
  const { payload, answer, onChoose } = props
  const { type, text, markdown } = payload
  switch (type) {
    case 'text':
      return isFilled(text) ? <Markdown text={text} /> : undefined
    case 'markdown':
      return isFilled(markdown) ? <Markdown text={markdown} /> : undefined
    case 'image':
    case 'audio':
    case 'video':
    case 'file':
      return isFilled(payload[`${type}Url`]) ? <Media kind={type} payload={payload} /> : undefined
    case 'location':
      return <Location {...payload} />
    case 'card':
      return isFilled(payload.title) ? <Card card={payload} onChoose={onChoose} /> : undefined
    case 'carousel':
      return <Carousel cards={objectsIn(payload.items)} onChoose={onChoose} />
    case 'choice':
    case 'dropdown': {
      const Options = type === 'choice' ? Choice : Dropdown
      return (
        <>
          {isFilled(text) && <Markdown text={text} />}
          <Options
            label={isFilled(text) ? text : ''}
            options={objectsIn(payload.options)}
            answer={answer}
            onChoose={onChoose}
          />
        </>
      )
    }
    case 'bloc':
      if (depth > maxNesting) return undefined
      return partsOf(payload).map((part, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: parts never move
        <div key={index} className="part">
          {toContent({ ...props, payload: part }, depth + 1) ?? <Fallback payload={part} />}
        </div>
      ))
    default:
      return undefined
  }
}

/** The text of a payload that cannot be shown by its type; a script that a payload names is never run. */
function Fallback({ payload }: { payload: Payload }) {
  const texts = useTranslation()
  const { text, markdown, title, data } = payload
  const found = [text, markdown, title, Object(data).text].find(isFilled)
  return found === undefined ? <em>{texts.unknown}</em> : <Markdown text={found} />
}

function Location({ latitude, longitude, title, address }: Members) {
  const texts = useTranslation()
  const lines = [title, address].filter(isFilled)
  const isKnown = Number.isFinite(latitude) && Number.isFinite(longitude)
  const url = `https://www.openstreetmap.org/?mlat=${latitude}&mlon=${longitude}#map=16/${latitude}/${longitude}`
  return (
    <div className="location">
      <Icon name="map" />
      <div>
        {lines.map((line) => (
          <div key={line}>{line}</div>
        ))}
        {isKnown && <OutsideLink url={url}>{texts.map}</OutsideLink>}
        {!isKnown && lines.length === 0 && <em>{texts.unknown}</em>}
      </div>
    </div>
  )
}
