import type { CardContent } from '@botstead/chat-view'
import { useRef } from 'react'
import { useTranslation } from './context.js'
import { Icon } from './icon.js'
import { safeMedia } from './links.js'
import type { Choose } from './options.js'
import { OutsideLink } from './outside-link.js'

/** A card with its picture and its buttons, of which some are links. */
export function Card({ card, onChoose }: { card: CardContent; onChoose: Choose }) {
  const { title, subtitle, imageUrl, actions } = card
  const picture = safeMedia(imageUrl)
  return (
    <div className="card">
      {picture !== undefined && (
        <img src={picture} alt="" loading="lazy" referrerPolicy="no-referrer" />
      )}
      {title !== undefined && <strong>{title}</strong>}
      {subtitle !== undefined && <p>{subtitle}</p>}
      {actions.map(({ opensUrl, label, value }, index) =>
        opensUrl ? (
          // biome-ignore lint/suspicious/noArrayIndexKey: buttons never move, and may have one label
          <OutsideLink key={index} url={value} className="option">
            {label}
          </OutsideLink>
        ) : (
          <button
            // biome-ignore lint/suspicious/noArrayIndexKey: buttons never move, and may have one label
            key={index}
            type="button"
            className="option"
            onClick={() => onChoose(label, value)}
          >
            {label}
          </button>
        ),
      )}
    </div>
  )
}

/** Cards side by side, scrolled by arrow keys, by two buttons, and by touch. */
export function Carousel({ cards, onChoose }: { cards: readonly CardContent[]; onChoose: Choose }) {
  const texts = useTranslation()
  const list = useRef<HTMLUListElement>(null)
  const move = (direction: number) => {
    const box = list.current
    if (box === null) return
    const forward = getComputedStyle(box).direction === 'rtl' ? -direction : direction
    box.scrollBy({ left: forward * (box.firstElementChild?.clientWidth ?? 0) })
  }
  return (
    <div className="carousel">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it is scrolled by keys */}
      <ul ref={list} aria-label={texts.cards} tabIndex={0}>
        {cards.map((card, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: cards never move
          <li key={index}>
            <Card card={card} onChoose={onChoose} />
          </li>
        ))}
      </ul>
      {cards.length > 1 && (
        <div className="arrows">
          <button type="button" aria-label={texts.previous} onClick={() => move(-1)}>
            <Icon name="back" />
          </button>
          <button type="button" aria-label={texts.next} onClick={() => move(1)}>
            <Icon name="back" />
          </button>
        </div>
      )}
    </div>
  )
}
