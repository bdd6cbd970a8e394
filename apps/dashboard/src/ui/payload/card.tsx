import { type CardContent, toText } from '@botstead/chat-view'
import { OutsideLink } from '../outside-link.js'
import { Media } from './media.js'
import { type Choose, PressOption } from './options.js'
import styles from './payload.module.css'

/** A card with its image and buttons. */
export function Card({ card, onChoose }: { card: CardContent; onChoose: Choose | undefined }) {
  const { title, subtitle, imageUrl, actions } = card
  return (
    <div className={styles.card}>
      {imageUrl !== undefined && <Media media="image" url={imageUrl} title={undefined} />}
      <strong>{title ?? 'Card'}</strong>
      {subtitle !== undefined && <div className="muted">{subtitle}</div>}
      {actions.map(({ opensUrl, label, value }, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: buttons never move
        <div key={index} className={styles.action}>
          {opensUrl ? (
            <OutsideLink url={toText(value)}>{label}</OutsideLink>
          ) : (
            <PressOption label={label} value={value} onChoose={onChoose} />
          )}
        </div>
      ))}
    </div>
  )
}
