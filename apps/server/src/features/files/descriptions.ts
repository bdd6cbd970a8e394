import { ApiError, type Body, type contract } from '@botstead/contract'
import type { BotActor } from '../../domain/actor.js'
import { onlyTakesAway } from '../../domain/only-takes-away.js'
import { isoTime } from '../../platform/clock.js'
import { decodeJson, encodeBoolean, encodeJson } from '../../platform/db/columns.js'
import { patchContents } from './contents/content-store.js'
import type { Generations } from './contents/generations.js'
import { scheduleExpiry } from './expiry.js'
import { merge } from './merge.js'
import { lockOwnFile } from './require-file.js'
import { expiryOf, requireIndexableTags } from './rules.js'
import type { FilesDeps } from './service.js'
import * as store from './store.js'
import type { FileRow } from './table.js'

type Patch = Body<typeof contract.files.update>

/** Most entries and bytes of what an update leaves: those that one upsert may bring. */
export const descriptionLimits = { tags: 200, metadata: 1000, metadataBytes: 1024 * 1024 }

export type Descriptions = ReturnType<typeof createDescriptions>

/** Changes of what is said of a file. Its content, key, type and index stay. */
export function createDescriptions(
  deps: Pick<FilesDeps, 'run' | 'clock' | 'queue'> & { generations: Generations },
) {
  const { run, clock, queue, generations } = deps

  return {
    async update(actor: BotActor, idOrKey: string, patch: Patch): Promise<FileRow> {
      const expiresAt =
        patch.expiresAt === null ? null : expiryOf(patch.expiresAt ?? undefined, clock.now())
      return await run(
        async (tx) => {
          const now = isoTime(clock.now())
          const file = await lockOwnFile(tx, actor, idOrKey, now, 'change')
          const tags = merge(decodeJson<Record<string, string>>(file.tags), patch.tags)
          if (patch.tags !== undefined) {
            requireIndexableTags(tags)
            requireAtMost('tags', Object.keys(tags).length, descriptionLimits.tags)
          }
          const next = {
            tags: encodeJson(tags),
            ...(patch.metadata !== undefined && { metadata: metadataOf(file, patch.metadata) }),
            ...(patch.expiresAt !== undefined && { expires_at: expiresAt }),
            ...(patch.accessPolicies !== undefined && policiesOf(file, patch.accessPolicies)),
            updated_at: now,
          }
          await store.patchFile(tx, file.bot_id, file.id, next)
          if (patch.tags !== undefined) await store.replaceTags(tx, file, tags)
          if (patch.accessPolicies !== undefined) {
            const { public_content, shared } = policiesOf(file, patch.accessPolicies)
            await patchContents(tx, file.bot_id, file.id, { public_content, shared })
          }
          if (patch.expiresAt !== undefined && expiresAt !== null) {
            await scheduleExpiry(queue, tx, expiresAt)
          }
          const changed = { ...file, ...next }
          await generations.describe(tx, changed)
          return changed
        },
        { freesRoom: onlyTakesAway(patch) },
      )
    },
  }
}

function metadataOf(file: FileRow, patch: Record<string, unknown>): string {
  const before = decodeJson<Record<string, unknown>>(file.metadata)
  const merged = merge(before, patch)
  // An upsert adds how it was to be indexed to what the caller may give, and that is no overflow.
  const most = Math.max(descriptionLimits.metadata, Object.keys(before).length)
  requireAtMost('metadata', Object.keys(merged).length, most)
  const text = encodeJson(merged)
  if (Buffer.byteLength(text) > descriptionLimits.metadataBytes) {
    throw new ApiError(
      'LimitExceeded',
      `body.metadata must leave the file with at most ${descriptionLimits.metadataBytes} bytes of JSON.`,
      { metadata: { in: 'body', field: 'metadata', maximum: descriptionLimits.metadataBytes } },
    )
  }
  return text
}

/** The caller speaks of the file as it is, so that its passages and served content follow at once. */
function policiesOf(file: FileRow, policies: NonNullable<Patch['accessPolicies']>) {
  const shared = encodeBoolean(policies.includes('integrations'))
  return {
    public_content: encodeBoolean(policies.includes('public_content')),
    shared,
    passages_shared: file.passages_generation === null ? 0 : shared,
  } as const
}

function requireAtMost(field: 'tags' | 'metadata', count: number, maximum: number): void {
  if (count <= maximum) return
  throw new ApiError(
    'LimitExceeded',
    `body.${field} must leave the file with at most ${maximum} entries; it would have ${count}.`,
    { metadata: { in: 'body', field, maximum } },
  )
}
