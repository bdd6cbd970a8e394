import type { Client } from '@botstead/contract'

/** A planned upload, without the content. */
export interface Plan {
  botId: string
  key: string
  size: number
  /** Whether search is to find it. */
  index: boolean
  tags: Record<string, string>
  /** The description that a file keeps when its content is replaced. */
  metadata?: Record<string, unknown>
  accessPolicies?: ('public_content' | 'integrations')[]
  expiresAt?: string
  contentType?: string
  indexing?: NonNullable<Parameters<Client['upsertFile']>[0]['indexing']>
}

/** An upload that a reload of the page interrupted: all but the content, which the browser does not keep. */
export interface Interrupted {
  plan: Plan
  uploadUrl: string
  sent: number
  /** Of the content, to recognise it when it is chosen again; milliseconds. */
  lastModified: number
}

// Of this tab only, because the address is a permission.
const key = 'botstead uploads'

export function readInterrupted(): Interrupted[] {
  try {
    return JSON.parse(sessionStorage.getItem(key) ?? '[]')
  } catch {
    return []
  }
}

export function rememberInterrupted(uploads: readonly Interrupted[]): void {
  try {
    if (uploads.length === 0) sessionStorage.removeItem(key)
    else sessionStorage.setItem(key, JSON.stringify(uploads))
  } catch {
    // A browser that keeps nothing cannot continue after a reload.
  }
}
