import type { MediaContent } from '@botstead/chat-view'
import { AudioLines, FileText, Film, Image } from 'lucide-react'
import { ownContent, safeLink } from '../links.js'
import { Name } from '../name.js'
import { OutsideLink } from '../outside-link.js'
import styles from './payload.module.css'

const icons = { image: Image, audio: AudioLines, video: Film, file: FileText } as const
const words = { image: 'Image', audio: 'Audio', video: 'Video', file: 'File' } as const

type MediaProps = Omit<MediaContent, 'kind'>

/** An image, recording or file: shown if it is a file of this server, and a link if it is elsewhere. */
export function Media({ media: kind, url, title }: MediaProps) {
  const own = ownContent(url)
  const name = title ?? words[kind]
  const Icon = icons[kind]
  return (
    <figure className={styles.media}>
      {own !== undefined && kind === 'image' && (
        <img src={own} alt={title ?? 'Image of the message'} loading="lazy" />
      )}
      {own !== undefined && kind === 'audio' && (
        // biome-ignore lint/a11y/useMediaCaption: the message has none
        <audio src={own} controls preload="none" aria-label={name} />
      )}
      {own !== undefined && kind === 'video' && (
        // biome-ignore lint/a11y/useMediaCaption: the message has none
        <video src={own} controls preload="none" aria-label={name} />
      )}
      <figcaption>
        <Icon size={16} aria-hidden="true" />
        <OutsideLink url={url}>
          <Name>{name}</Name>
        </OutsideLink>
        <span className="muted">{placeOf(url)}</span>
      </figcaption>
    </figure>
  )
}

/** The host of the address, so that a reader knows it before opening the link. */
function placeOf(url: string): string {
  const href = safeLink(url)
  if (href === undefined) return url
  const { host } = new URL(href)
  return host === location.host ? '' : host
}
