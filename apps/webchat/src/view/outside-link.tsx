import type { ReactNode } from 'react'
import { safeLink } from './links.js'

/**
 * A link in untrusted content. It opens in a new tab, without a referrer; an address that is not allowed becomes plain text.
 */
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
