import type { ReactNode } from 'react'
import { safeLink } from './links.js'

/** A link that somebody else wrote: opens beside the page, or is text if it may not be opened. */
export function OutsideLink({ url, children }: { url: string; children?: ReactNode }) {
  const href = safeLink(url)
  const shown = children ?? url
  if (href === undefined) {
    return <span title={url}>{shown}</span>
  }
  return (
    <a href={href} title={href} target="_blank" rel="noopener noreferrer">
      {shown}
    </a>
  )
}
