import type { Plan } from './uploads.js'

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
