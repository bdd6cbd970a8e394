import { ApiError } from '@botstead/contract'
import semver from 'semver'
import { fieldError } from '../../../domain/refusals.js'

/** The circle of workspaces that can find and use an integration, an interface or a plugin. */
type Visibility = 'public' | 'private' | 'unlisted'

const namePattern = /^([a-z0-9][a-z0-9_-]{0,99}\/)?[a-z][a-zA-Z0-9_-]{1,99}$/

/** Throws `InvalidIdentifier` unless an integration, an interface or a plugin can have this name. */
export function requireName(name: string): string {
  if (namePattern.test(name)) return name
  throw fieldError(
    'body.name',
    'must be a lowercase letter followed by 1 to 99 letters, digits, - or _; the handle of the workspace and a / may precede it.',
    'InvalidIdentifier',
  )
}

/** Normalises a version: `v1.2.3` becomes `1.2.3`. Throws `InvalidPayload` if it is not one. */
export function requireVersion(given: string): string {
  const version = semver.valid(given)
  if (version !== null) return version
  throw fieldError('body.version', 'must be a semantic version such as 1.4.0.')
}

/** The highest version that matches an exact version, `latest` or a range. */
export function highestOf<Item extends { version: string }>(
  items: readonly Item[],
  wanted: string,
): Item | undefined {
  const exact = semver.valid(wanted)
  const range = exact === null ? rangeOf(wanted) : undefined
  const found = items.filter(({ version }) => version === exact || range?.test(version))
  // A prerelease is never `latest` while there is a release.
  const released = found.filter(({ version }) => semver.prerelease(version) === null)
  const choice = released.length > 0 ? released : found
  return choice.toSorted((a, b) => semver.rcompare(a.version, b.version)).at(0)
}

/** Parsed once for all versions of a name: an invalid one can take milliseconds. */
function rangeOf(text: string): semver.Range | undefined {
  try {
    return new semver.Range(text === 'latest' ? '*' : text, { includePrerelease: true })
  } catch {
    return undefined
  }
}

/** The visibility that a body asks for, also in its older form; undefined if it asks for none. */
export function visibilityIn(body: {
  visibility?: Visibility
  public?: boolean
}): Visibility | undefined {
  if (body.visibility !== undefined) return body.visibility
  if (body.public === undefined) return undefined
  return body.public ? 'public' : 'private'
}

/** The error for an attempt to delete or hide something that others use. */
export function stillUsed(what: string, how: string): ApiError {
  return new ApiError('ReferenceConstraint', `The ${what} ${how}.`)
}

/** Icons and documents are data URLs, so that they need no storage of their own. */
export function iconUrlOf(icon: string): string {
  return icon === '' ? '' : `data:image/svg+xml;base64,${icon}`
}

/** The same for a document in Markdown. */
export function readmeUrlOf(readme: string): string {
  return readme === '' ? '' : `data:text/markdown;base64,${readme}`
}
