import { ApiError } from '@botstead/contract'
import semver from 'semver'

/** A version in its plain form: `v1.2.3` is written `1.2.3`. Throws `InvalidPayload` for what is none. */
export function requireVersion(given: string): string {
  const version = semver.valid(given)
  if (version !== null) return version
  throw new ApiError('InvalidPayload', 'body.version must be a semantic version such as 1.4.0.', {
    metadata: { in: 'body', field: 'version' },
  })
}

/** The highest of versions that an exact version, `latest` or a range asks for. */
export function highestOf<Item extends { version: string }>(
  items: readonly Item[],
  asked: string,
): Item | undefined {
  const exact = semver.valid(asked)
  const found = items.filter(({ version }) =>
    exact === null
      ? semver.satisfies(version, asked === 'latest' ? '*' : asked, { includePrerelease: true })
      : version === exact,
  )
  // A prerelease is nobody's latest while there is a release.
  const released = found.filter(({ version }) => semver.prerelease(version) === null)
  const choice = released.length > 0 ? released : found
  return choice.toSorted((a, b) => semver.rcompare(a.version, b.version)).at(0)
}
