import { Markdown as ChatMarkdown, type MarkdownElements } from '@botstead/chat-view'
import { safeMedia } from './links.js'
import { OutsideLink } from './outside-link.js'

const elements: MarkdownElements = {
  Link: OutsideLink,
  Image({ url, text }) {
    const source = safeMedia(url)
    if (source === undefined) return text
    return <img src={source} alt={text} loading="lazy" referrerPolicy="no-referrer" />
  },
}

export function Markdown({ text }: { text: string }) {
  return (
    <div className="markdown">
      <ChatMarkdown text={text} elements={elements} />
    </div>
  )
}
