import type { MediaContent } from '@botstead/chat-view'
import { format } from '../translations/index.js'
import { useTranslation } from './context.js'
import { Icon } from './icon.js'
import { safeMedia } from './links.js'
import { OutsideLink } from './outside-link.js'

/** A picture, recording, video or file; shown by its title if its address may not be loaded. */
export function Media({ media: kind, url, title: given }: MediaContent) {
  const texts = useTranslation()
  const title = given ?? texts[kind]
  const source = safeMedia(url)
  if (source === undefined || kind === 'file') {
    return (
      <OutsideLink url={url} className="file">
        <Icon name="file" />
        <span>{source === undefined ? title : format(texts.download, { name: title })}</span>
      </OutsideLink>
    )
  }
  switch (kind) {
    case 'image':
      return (
        <OutsideLink url={url} className="media">
          <img src={source} alt={title} loading="lazy" referrerPolicy="no-referrer" />
        </OutsideLink>
      )
    case 'audio':
      // biome-ignore lint/a11y/useMediaCaption: bots send no captions
      return <audio src={source} aria-label={title} controls preload="metadata" />
    case 'video':
      // biome-ignore lint/a11y/useMediaCaption: bots send no captions
      return <video src={source} aria-label={title} controls preload="metadata" playsInline />
    default:
      return kind satisfies never
  }
}
