import { OutsideLink } from '../outside-link.js'
import { Media } from './media.js'
import { PressOption } from './options.js'
import styles from './payload.module.css'
import { type Choose, isFilled, type Members, objectsIn } from './read.js'

/** A card with its image and buttons. */
export function Card({ card, onChoose }: { card: Members; onChoose: Choose | undefined }) {
  const { title, subtitle, imageUrl, actions } = card
  return (
    <div className={styles.card}>
      {isFilled(imageUrl) && <Media kind="image" url={imageUrl} />}
      <strong>{isFilled(title) ? title : 'Card'}</strong>
      {isFilled(subtitle) && <div className="muted">{subtitle}</div>}
      {objectsIn(actions).map(({ action, label, value }, index) => {
        const [name, target] = [String(label), String(value)]
        return (
          // biome-ignore lint/suspicious/noArrayIndexKey: buttons never move
          <div key={index} className={styles.action}>
            {action === 'url' ? (
              <OutsideLink url={target}>{name}</OutsideLink>
            ) : (
              <PressOption label={name} value={target} onChoose={onChoose} />
            )}
          </div>
        )
      })}
    </div>
  )
}
