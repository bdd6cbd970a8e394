import { readRemembered, remember } from '../ui/remembered.js'

const name = 'is signed in'
let isKnown: boolean | undefined

/**
 * Whether this browser may have a session, whose cookie no page can read: without one, a first request would only be
 * refused. An earlier release remembered the workspace alone.
 */
export function mayBeSignedIn(): boolean {
  return (
    isKnown ?? readRemembered(name, readRemembered<unknown>('workspace', undefined) !== undefined)
  )
}

export function rememberSignedIn(isSignedIn: boolean): void {
  isKnown = isSignedIn
  remember(name, isSignedIn)
}
