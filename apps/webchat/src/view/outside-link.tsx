import type { ReactNode } from 'react'
import { safeLink } from './links.js'

/** A link that somebody else wrote: it opens beside the page, which learns nothing of it; text if it may not be opened. */
export function OutsideLink({
  url,
  className,
  children,
}: {
  url: unknown
  className?: string
  children: ReactNode
}) {
  const href = safeLink(url)
  if (href === undefined) return <span className={className}>{children}</span>
  return (
    <a className={className} href={href} target="_blank" rel="noopener noreferrer nofollow">
      {children}
    </a>
  )
}
